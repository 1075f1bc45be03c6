import { assertEquals, assertThrows } from "@std/assert";
import { seededRandom } from "../sys/testing.ts";
import { type NetworkRecords } from "./network.ts";
import { FakeBoot, openTestStore } from "./testing.ts";

function withNetwork(work: (network: NetworkRecords) => void): void {
  using store = openTestStore(new FakeBoot());
  store.transaction(() => work(store.ensureNetwork("net")));
}

const ALL = 2n ** 128n - 1n;

Deno.test("taking neighbours makes one run, freeing its middle makes two", () => {
  withNetwork(({ runs }) => {
    for (const place of [5n, 7n, 6n, 9n]) runs.take(place);
    assertEquals(runs.within(0n, ALL), [{ first: 5n, last: 7n }, { first: 9n, last: 9n }]);
    runs.take(8n);
    assertEquals(runs.within(0n, ALL), [{ first: 5n, last: 9n }]);
    runs.free(7n);
    assertEquals(runs.within(0n, ALL), [{ first: 5n, last: 6n }, { first: 8n, last: 9n }]);
    runs.free(5n);
    runs.free(9n);
    assertEquals(runs.within(0n, ALL), [{ first: 6n, last: 6n }, { first: 8n, last: 8n }]);
  });
});

Deno.test("nextFree() is the place itself or the first after its run", () => {
  withNetwork(({ runs }) => {
    for (const place of [5n, 6n, 7n]) runs.take(place);
    assertEquals([4n, 5n, 7n, 8n].map((from) => runs.nextFree(from)), [4n, 8n, 8n, 8n]);
    assertEquals([4n, 5n, 7n, 8n].map((place) => runs.has(place)), [false, true, true, false]);
  });
});

Deno.test("within() includes a run that begins before", () => {
  withNetwork(({ runs }) => {
    for (const place of [5n, 6n, 7n, 20n]) runs.take(place);
    assertEquals(runs.within(6n, 19n), [{ first: 5n, last: 7n }]);
    assertEquals(runs.within(8n, 19n), []);
    assertEquals(runs.within(7n, 20n).length, 2);
  });
});

Deno.test("taking what is taken and freeing what is free are bugs", () => {
  withNetwork(({ runs }) => {
    runs.take(5n);
    assertThrows(() => runs.take(5n), TypeError, "it is taken");
    assertThrows(() => runs.free(6n), TypeError, "it is free");
  });
});

Deno.test("runs are maximal and hold exactly what was taken, whatever the order", () => {
  const random = seededRandom(7);
  withNetwork(({ runs }) => {
    const taken = new Set<bigint>();
    for (let step = 0; step < 4000; step++) {
      const place = 2n ** 100n + BigInt(random.integer(300));
      if (taken.delete(place)) runs.free(place);
      else {
        taken.add(place);
        runs.take(place);
      }
    }
    const listed = runs.within(0n, ALL);
    const places = listed.flatMap(({ first, last }) =>
      Array.from({ length: Number(last - first) + 1 }, (_, index) => first + BigInt(index))
    );
    assertEquals(places, [...taken].sort((a, b) => a < b ? -1 : 1));
    const gaps = listed.slice(1).map(({ first }, index) => first - (listed[index]?.last ?? 0n));
    assertEquals(gaps.filter((gap) => gap < 2n), []);
  });
});
