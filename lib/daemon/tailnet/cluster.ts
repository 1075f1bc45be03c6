/** Which networks hold pods: pure decisions. */

import type { Prefix } from "../../ip/mod.ts";
import { TAILNET_IPV4, TAILNET_IPV6 } from "../../ip/well_known.ts";
import { mergeApproved as union } from "../../headscale/mod.ts";
import type { Desired } from "./desired.ts";
import type { Observed } from "./observed.ts";

/** `prefixes` without those that are in `others`, too. */
export function minus(prefixes: readonly Prefix[], others: readonly Prefix[]): readonly Prefix[] {
  return prefixes.filter((prefix) => !has(others, prefix));
}

/** Whether `prefix` is among `prefixes`. */
export function has(prefixes: readonly Prefix[], prefix: Prefix): boolean {
  return prefixes.some((other) => other.equals(prefix));
}

/**
 * Pod networks of other nodes: every route of a peer, unless the configuration says where pod
 * networks are taken from.
 *
 * A node that is away is told to nobody, and its pods' packets would leave by the default route,
 * in clear. So what was seen once stays, until Headscale answers and no node has it any more.
 */
export function learnedPrefixes(
  desired: Desired,
  observed: Pick<Observed, "tailscaled" | "headscale" | "record">,
): readonly Prefix[] {
  if (desired.base.length > 0) return [];
  const { tailscaled, headscale, record } = observed;
  const routed = tailscaled.ok
    ? tailscaled.value.status.peers.flatMap(({ primaryRoutes }) => primaryRoutes)
    : [];
  const ownId = tailscaled.ok ? tailscaled.value.status.self.id : undefined;
  const known = headscale?.ok
    ? headscale.value.filter(({ id }) => id !== ownId)
      .flatMap(({ advertised, approved }) => [...advertised, ...approved])
    : undefined;
  const stillThere = record.learned.filter((prefix) => known === undefined || has(known, prefix));
  return union(routed, stillThere).filter((prefix) => isForeign(prefix, desired.prefixes))
    .toSorted((a, b) => a.compare(b));
}

/** Not everything, not the tailnet's own addresses, and not ours. */
function isForeign(prefix: Prefix, own: readonly Prefix[]): boolean {
  return prefix.length > 0 &&
    ![TAILNET_IPV4, TAILNET_IPV6, ...own].some((other) => other.overlaps(prefix));
}

/** All networks pods reach under their own address, and that only the tunnel may carry. */
export function clusterPrefixes(
  desired: Desired,
  learned: readonly Prefix[],
): readonly Prefix[] {
  return union(union(desired.prefixes, desired.base), learned);
}
