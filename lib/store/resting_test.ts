import { assertEquals } from "@std/assert";
import { type IpAddress, parseAddress } from "../ip/address.ts";
import { parseRange } from "../ip/range.ts";
import { temporaryDirectory } from "../sys/testing.ts";
import { type Store } from "./store.ts";
import { FakeBoot, openTestStore } from "./testing.ts";

/** Puts `texts` to rest, `gapMs` apart. */
function rest(store: Store, boot: FakeBoot, texts: readonly string[], gapMs = 1000): void {
  store.transaction(() => {
    const network = store.ensureNetwork("net");
    for (const text of texts) {
      network.hold(parseAddress(text), { kind: "reserved" });
      network.rest(parseAddress(text));
      boot.advance(gapMs);
    }
  });
}

function rested(store: Store, restMs: number, limit = 10): string[] {
  const network = store.ensureNetwork("net");
  return network.resting.rested(4, { restMs, limit }).map((address: IpAddress) => `${address}`);
}

Deno.test("addresses have rested in the order of their release", () => {
  const boot = new FakeBoot();
  using store = openTestStore(boot);
  rest(store, boot, ["10.0.0.9", "10.0.0.2", "10.0.0.5"]);
  assertEquals(rested(store, 3000), ["10.0.0.9"]);
  assertEquals(rested(store, 2000), ["10.0.0.9", "10.0.0.2"]);
  assertEquals(rested(store, 0, 2), ["10.0.0.9", "10.0.0.2"]);
  assertEquals(rested(store, 3001), []);
});

Deno.test("a restart of the machine ends every rest, one of the program none", () => {
  const boot = new FakeBoot();
  using directory = temporaryDirectory();
  const path = `${directory.path}/store.db`;
  {
    using store = openTestStore(boot, path);
    rest(store, boot, ["10.0.0.2"]);
  }
  {
    using store = openTestStore(boot, path);
    assertEquals(rested(store, 30_000), []);
  }
  boot.restart();
  using store = openTestStore(boot, path);
  assertEquals(rested(store, 30_000), ["10.0.0.2"]);
});

Deno.test("longest() is the first released of those in the ranges", () => {
  const boot = new FakeBoot();
  using store = openTestStore(boot);
  rest(store, boot, ["10.0.0.9", "fd00::1", "10.0.0.2", "10.0.0.5"]);
  const { resting } = store.ensureNetwork("net");
  const longest = (...ranges: string[]) => resting.longest(ranges.map(parseRange))?.toString();
  assertEquals(longest("10.0.0.0/24"), "10.0.0.9");
  assertEquals(longest("10.0.0.1-10.0.0.3", "10.0.0.4-10.0.0.6"), "10.0.0.2");
  assertEquals(longest("fd00::/64"), "fd00::1");
  assertEquals(longest("10.1.0.0/24"), undefined);
});
