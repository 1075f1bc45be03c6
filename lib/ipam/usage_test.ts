import { assertEquals } from "@std/assert";
import { parseAddress } from "../ip/address.ts";
import { type NetworkRecords } from "../store/network.ts";
import { FakeBoot, openTestStore } from "../store/testing.ts";
import { parsePoolConfig } from "./pool_config.ts";
import { type RangeSet } from "./range_set.ts";
import { hasRoom, poolUsage } from "./usage.ts";

function withPool(work: (network: NetworkRecords, set: RangeSet, boot: FakeBoot) => void): void {
  const boot = new FakeBoot();
  using store = openTestStore(boot);
  store.transaction(() => {
    for (const set of parsePoolConfig({ subnet: "10.0.0.0/29" }).sets) {
      work(store.ensureNetwork("net"), set, boot);
    }
  });
}

Deno.test("poolUsage() counts what is held and what rests inside the pool only", () => {
  withPool((network, set) => {
    for (const text of ["10.0.0.2", "10.0.0.3", "10.0.0.4", "10.9.9.9", "10.0.0.1"]) {
      network.hold(parseAddress(text), { kind: "reserved" });
    }
    network.rest(parseAddress("10.0.0.3"));
    assertEquals(poolUsage(network, set), { size: 5n, held: 2, resting: 1 });
  });
});

Deno.test("hasRoom() as long as one is free, rests, or is of an earlier boot", () => {
  withPool((network, set) => {
    const all = ["10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.6"].map(parseAddress);
    assertEquals(hasRoom(network, set), true);
    for (const address of all) network.hold(address, { kind: "reserved" });
    assertEquals(hasRoom(network, set), false);
    network.rest(parseAddress("10.0.0.4"));
    assertEquals(hasRoom(network, set), true);
  });
});
