/** The store and the kernel at one moment, for `check` and `gc`. */

import { compare, type Finding } from "../../ipam/compare.ts";
import { inventory, inventoryPools } from "../../ipam/inventory.ts";
import { readStore, type StoreOptions } from "../../store/open_store.ts";

/** What a look at both has shown. */
export interface Look {
  readonly findings: readonly Finding[];
  /** What is wrong with the file itself. */
  readonly damage: readonly string[];
  /** Addresses that are held or found. */
  readonly held: number;
  /** Addresses in use on this machine, in namespaces other than the host's. */
  readonly used: number;
  /** Processes whose namespace could not be looked into. */
  readonly unseen: number;
}

/**
 * Looks at the kernel, then at the store.
 *
 * In this order a pod that starts between the two looks is held and not yet seen, which is a
 * namespace that is missing an address; the other way round it would be an address that
 * nobody holds, which is worse news.
 */
export async function look(
  options: StoreOptions,
  network: string | undefined,
): Promise<Look> {
  const { observe } = await import("../../ipam/observe.ts");
  const paths = readStore(
    options,
    (store) => inventory(store, network).flatMap(({ attachment }) => attachment?.netns ?? []),
  ) ?? [];
  const observation = observe([...new Set(paths)]);
  const stored = readStore(options, (store) => ({
    entries: inventory(store, network),
    pools: inventoryPools(store, network),
    damage: store.verify(),
  })) ?? { entries: [], pools: [], damage: [] };
  return {
    findings: compare({ ...stored, observation }),
    damage: stored.damage,
    held: stored.entries.filter(({ state }) => state === "held" || state === "found").length,
    used: observation.addresses.filter(({ netnsId }) => netnsId !== undefined).length,
    unseen: observation.unseen.length,
  };
}

/** A finding as JSON; the keys stay. */
export function findingObject(finding: Finding): Record<string, unknown> {
  const { kind, network, address, detail } = finding;
  return { kind, network, address: address.toString(), detail };
}
