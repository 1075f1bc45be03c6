/** All the store knows, network by network, as plain values to show, compare or export. */

import { type IpAddress } from "../ip/address.ts";
import { type HoldKind } from "../store/addresses.ts";
import { type Attachment } from "../store/attachments.ts";
import { type NetworkRecords } from "../store/network.ts";
import { type Store } from "../store/store.ts";
import { type PoolUsage } from "./errors.ts";
import { parsePoolDefinitions } from "./pool_config.ts";
import { type RangeSet } from "./range_set.ts";
import { poolUsage } from "./usage.ts";

/** An address that is not free. */
export interface InventoryEntry {
  readonly network: string;
  readonly address: IpAddress;
  readonly state: HoldKind | "resting";
  /** Who holds it; absent for what is reserved, found or at rest. */
  readonly attachment: Attachment | undefined;
  readonly note: string | undefined;
  /** How long it has rested. */
  readonly restedMs: number | undefined;
}

/** A range set and how full it is. */
export interface InventoryPool {
  readonly network: string;
  readonly position: number;
  readonly set: RangeSet;
  readonly usage: PoolUsage;
}

/** Every address of the networks called `only`, or of all, that is not free. */
export function inventory(store: Store, only?: string): InventoryEntry[] {
  return networksOf(store, only).flatMap((network) => {
    const attachments = new Map(network.attachments.list().map((one) => [one.id, one]));
    const held = network.addresses.list().map((entry): InventoryEntry => ({
      network: network.name,
      address: entry.address,
      state: entry.kind,
      attachment: attachments.get(entry.attachment ?? -1),
      note: entry.note,
      restedMs: undefined,
    }));
    const resting = network.resting.list().map(({ address, restedMs }): InventoryEntry => ({
      network: network.name,
      address,
      state: "resting",
      attachment: undefined,
      note: undefined,
      restedMs,
    }));
    return [...held, ...resting].sort((a, b) => a.address.compare(b.address));
  });
}

/** The range sets as configured last, and how full they are. */
export function inventoryPools(store: Store, only?: string): InventoryPool[] {
  return networksOf(store, only).flatMap((network) =>
    network.pools.list().flatMap(({ position, definition }) => {
      if (definition === undefined) return [];
      return parsePoolDefinitions([definition]).map((set) => ({
        network: network.name,
        position,
        set,
        usage: poolUsage(network, set),
      }));
    })
  );
}

function networksOf(store: Store, only: string | undefined): NetworkRecords[] {
  return store.networks().filter((name) => only === undefined || name === only)
    .flatMap((name) => store.network(name) ?? []);
}
