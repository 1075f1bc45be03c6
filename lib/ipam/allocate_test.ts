import { assert, assertEquals, assertThrows } from "@std/assert";
import { parseAddress } from "../ip/address.ts";
import { type Store } from "../store/store.ts";
import { FakeBoot, openTestStore } from "../store/testing.ts";
import { cryptoRandomBelow } from "../sys/random.ts";
import { allocate } from "./allocate.ts";
import { type JsonObject } from "../sys/json_reader.ts";
import { AddressUnavailableError, AttachmentConflictError, ExhaustedError } from "./errors.ts";
import { parsePoolConfig } from "./pool_config.ts";
import { release } from "./release.ts";
import { type StrategyName } from "./strategy.ts";

const PORTS = { random: cryptoRandomBelow, now: () => 0 };
const SMALL = { subnet: "10.0.0.0/29" }; // .2 to .6

/** Allocates for a container; returns the addresses as text. */
function add(
  store: Store,
  id: string,
  ipam: JsonObject = SMALL,
  requested: string[] = [],
): string[] {
  const request = {
    network: "net",
    key: { containerId: id, ifname: "eth0" },
    ...parsePoolConfig(ipam),
    requested: requested.map(parseAddress),
  };
  return allocate(store, request, PORTS).map(({ address }) => `${address.address}`);
}

function del(store: Store, id: string, cooldownMs = 30_000): string[] {
  const key = { containerId: id, ifname: "eth0" };
  return release(store, { network: "net", key, cooldownMs }).map(String);
}

Deno.test("a released address rests, by the time since boot", () => {
  const boot = new FakeBoot();
  using store = openTestStore(boot);
  const dense = { ...SMALL, strategy: "dense-pack" };
  assertEquals(add(store, "a", dense), ["10.0.0.2"]);
  assertEquals(del(store, "a"), ["10.0.0.2"]);
  assertEquals(add(store, "b", dense), ["10.0.0.3"]);
  boot.advance(29_999);
  assertEquals(add(store, "c", dense), ["10.0.0.4"]);
  boot.advance(1);
  assertEquals(add(store, "d", dense), ["10.0.0.2"]);
});

Deno.test("when nothing else is free the address that rests the longest is used", () => {
  const boot = new FakeBoot();
  using store = openTestStore(boot);
  for (const id of ["a", "b", "c", "d", "e"]) add(store, id);
  const error = assertThrows(() => add(store, "late"), ExhaustedError);
  assertEquals(error.usage, { size: 5n, held: 5, resting: 0 });
  del(store, "c");
  boot.advance(10);
  del(store, "a");
  assertEquals(add(store, "late"), ["10.0.0.4"]);
  assertEquals(add(store, "later"), ["10.0.0.2"]);
});

Deno.test("what was held before the machine restarted is used before what rests", () => {
  const boot = new FakeBoot();
  using store = openTestStore(boot);
  for (const id of ["a", "b", "c", "d"]) add(store, id);
  boot.restart();
  add(store, "e");
  del(store, "e");
  const given = add(store, "new");
  assert(given[0] !== "10.0.0.6", "the one at rest was used");
  assertEquals(store.network("net")?.attachments.list().map(({ containerId }) => containerId), [
    "new",
  ]);
});

Deno.test("after a restart the same container gets its addresses again, and is of this boot", () => {
  const boot = new FakeBoot();
  using store = openTestStore(boot);
  const before = add(store, "a");
  boot.restart();
  assertEquals(add(store, "a"), before);
  assertEquals(store.network("net")?.attachments.list()[0]?.sinceBoot, true);
  boot.restart();
  assertEquals(add(store, "a", { subnet: "10.7.0.0/24" }), ["10.7.0.2"]);
});

Deno.test("an attachment that holds other addresses is a conflict", () => {
  using store = openTestStore(new FakeBoot());
  add(store, "a");
  assertThrows(() => add(store, "a", { subnet: "10.7.0.0/24" }), AttachmentConflictError);
  assertThrows(() => add(store, "a", SMALL, ["10.0.0.6"]), AttachmentConflictError);
});

Deno.test("all sets or none: a set without room takes nothing of the others", () => {
  using store = openTestStore(new FakeBoot());
  const one = { subnet: "10.1.0.0/24", rangeStart: "10.1.0.9", rangeEnd: "10.1.0.9" };
  const ipam = { ranges: [[SMALL], [one]] };
  assertEquals(add(store, "a", ipam), ["10.0.0.2", "10.1.0.9"]);
  assertThrows(() => add(store, "b", ipam), ExhaustedError, "10.1.0.9 is exhausted: 1 of 1");
  assertEquals(store.network("net")?.addresses.list().length, 2);
  assertEquals(add(store, "c"), ["10.0.0.3"]);
});

Deno.test("a requested address may be at rest, not held, reserved, excluded or the gateway", () => {
  using store = openTestStore(new FakeBoot());
  const refuse = (wanted: string, reason: string) =>
    assertThrows(
      () => add(store, "x", { ...SMALL, exclude: ["10.0.0.6"] }, [wanted]),
      AddressUnavailableError,
      reason,
    );
  add(store, "a", SMALL, ["10.0.0.5"]);
  refuse("10.0.0.5", "a eth0 holds it");
  refuse("10.0.0.1", "gateway");
  refuse("10.0.0.6", "excludes");
  refuse("10.0.9.9", "in none of");
  del(store, "a");
  assertEquals(add(store, "b", SMALL, ["10.0.0.5"]), ["10.0.0.5"]);
  store.transaction(() => {
    const note = "for the printer";
    store.ensureNetwork("net").hold(parseAddress("10.0.0.4"), { kind: "reserved", note });
  });
  refuse("10.0.0.4", "reserved (for the printer)");
  // A requested address does not move the cursor.
  assertEquals(add(store, "c"), ["10.0.0.2"]);
});

Deno.test("what an allocation costs depends on neither pool nor number of addresses", () => {
  for (const strategy of ["sequential", "random", "dense-pack"] satisfies StrategyName[]) {
    const [small = 0, large = 0] = ([["10.0.0.0/24", 50], ["fd00::/64", 4000]] as const).map(
      ([subnet, filled]) => {
        using store = openTestStore(new FakeBoot());
        const ipam = { subnet, strategy };
        store.rehearse(() => add(store, "warm-up", ipam));
        for (let index = 0; index < filled; index++) add(store, `filler-${index}`, ipam);
        return medianMs(60, (index) => add(store, `pod-${index}`, ipam));
      },
    );
    // Generous, for a busy machine: looking at 4000 rows would take ten times as long.
    assert(large < small * 3 + 0.5, `${strategy}: ${small} ms, then ${large} ms`);
  }
});

/** The middle of the times `work` takes. */
function medianMs(rounds: number, work: (index: number) => unknown): number {
  const times = Array.from({ length: rounds }, (_, index) => {
    const start = performance.now();
    work(index);
    return performance.now() - start;
  });
  return times.sort((a, b) => a - b)[rounds >> 1] ?? 0;
}
