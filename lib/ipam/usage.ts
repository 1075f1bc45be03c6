/** How full pools are. */

import { toPlace } from "../store/address_key.ts";
import { type NetworkRecords } from "../store/network.ts";
import { type PoolUsage } from "./errors.ts";
import { type RangeSet } from "./range_set.ts";

/** Counts what is held and what rests of the addresses a set may give out. */
export function poolUsage(network: NetworkRecords, set: RangeSet): PoolUsage {
  let [held, taken] = [0, 0n];
  for (const range of set.candidates) {
    held += network.addresses.count(range);
    const [first, last] = [toPlace(range.start), toPlace(range.end)];
    for (const run of network.runs.within(first, last)) {
      taken += min(run.last, last) - max(run.first, first) + 1n;
    }
  }
  return { size: set.size, held, resting: Number(taken) - held };
}

/** Whether an allocation from the set would succeed. Looks at few rows, changes none. */
export function hasRoom(network: NetworkRecords, set: RangeSet): boolean {
  const isFree = set.candidates.some(({ start, end }) =>
    network.runs.nextFree(toPlace(start)) <= toPlace(end)
  );
  return isFree || network.resting.longest(set.candidates) !== undefined ||
    network.attachments.beforeBoot(1).length > 0 ||
    network.addresses.foundBeforeBoot(network.boot, 1).length > 0;
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
