/**
 * The store against the kernel: what leaked, what is missing, what is foreign, what is double.
 *
 * Pure: from an inventory and an observation to findings. A pod that is being set up or taken
 * down at that moment shows up as a difference; look twice before you act
 * ({@linkcode persisting}).
 */

import { type IpAddress } from "../ip/address.ts";
import { type InventoryEntry, type InventoryPool } from "./inventory.ts";
import { type Observation, type ObservedAddress } from "./observe.ts";

/**
 * - `leaked`: the store holds it, and its namespace is gone.
 * - `missing`: the store holds it, its namespace is there, and the address is not in it.
 * - `foreign`: in use and in one of our pools, and the store does not hold it.
 * - `duplicate`: in use in two namespaces and in one of our pools.
 */
export type FindingKind = "leaked" | "missing" | "foreign" | "duplicate";

/** All kinds, in the order in which they are told. */
export const FINDING_KINDS: readonly FindingKind[] = ["leaked", "missing", "foreign", "duplicate"];

/** One difference. */
export interface Finding {
  readonly kind: FindingKind;
  readonly address: IpAddress;
  readonly network: string | undefined;
  /** What it is about, in a few words. */
  readonly detail: string;
  /** Row of the attachment that leaked. */
  readonly attachment?: number;
}

/** What is compared. */
export interface Comparison {
  readonly entries: readonly InventoryEntry[];
  readonly pools: readonly InventoryPool[];
  readonly observation: Observation;
}

/** All differences, by kind. */
export function compare({ entries, pools, observation }: Comparison): Finding[] {
  const byAddress = Map.groupBy(observation.addresses, ({ address }) => `${address}`);
  const held = entries.filter(({ state }) => state === "held" || state === "found");
  const known = new Set(
    entries.filter(({ state }) => state !== "resting").map(({ address }) => `${address}`),
  );
  const poolOf = (address: IpAddress) => pools.find(({ set }) => set.offers(address));
  const findings = held.flatMap((entry) =>
    lost(entry, byAddress.get(`${entry.address}`) ?? [], observation)
  );
  for (const [text, seen] of byAddress) {
    const [first] = seen;
    const pool = first && poolOf(first.address);
    if (first === undefined || pool === undefined) continue;
    const places = seen.map(({ place, ifname }) => `${ifname} in ${place}`).join(", ");
    const about = { address: first.address, network: pool.network, detail: places };
    if (!known.has(text)) findings.push({ kind: "foreign", ...about });
    const namespaces = new Set(seen.flatMap(({ netnsId }) => netnsId ?? []));
    if (namespaces.size > 1) findings.push({ kind: "duplicate", ...about });
  }
  return findings.sort((a, b) => FINDING_KINDS.indexOf(a.kind) - FINDING_KINDS.indexOf(b.kind));
}

/** The findings of `later` that were there before: nobody was in the middle of something. */
export function persisting(earlier: readonly Finding[], later: readonly Finding[]): Finding[] {
  const keys = new Set(earlier.map(keyOf));
  return later.filter((finding) => keys.has(keyOf(finding)));
}

function keyOf({ kind, network, address, attachment }: Finding): string {
  return [kind, network, address, attachment].join(" ");
}

/** Whether the holder of `entry` is gone, or has lost it. */
function lost(
  entry: InventoryEntry,
  seen: readonly ObservedAddress[],
  observation: Observation,
): Finding[] {
  const { address, network, attachment } = entry;
  const finding = (kind: FindingKind, detail: string): Finding[] => [{
    kind,
    address,
    network,
    detail,
    ...(attachment === undefined ? {} : { attachment: attachment.id }),
  }];
  // Not seen is no proof while there are places nobody could look into.
  const isUnused = seen.length === 0 && observation.unseen.length === 0;
  if (attachment === undefined) {
    return isUnused ? finding("leaked", `${entry.note ?? "found"}, not in use now`) : [];
  }
  const who = `${attachment.containerId} ${attachment.ifname}`;
  if (!attachment.sinceBoot) return finding("leaked", `${who}, from before the machine started`);
  if (attachment.netns === undefined) {
    return isUnused ? finding("leaked", `${who}, in no namespace`) : [];
  }
  const netnsId = observation.namespaces.get(attachment.netns);
  if (netnsId === undefined) {
    // The runtime may have moved it to another path.
    return seen.length > 0 ? [] : finding("leaked", `${who}, ${attachment.netns} is gone`);
  }
  if (seen.some((one) => one.netnsId === netnsId)) return [];
  return finding("missing", `${who}, not in ${attachment.netns}`);
}
