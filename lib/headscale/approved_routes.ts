/**
 * Which routes of which node may be approved: pure decisions.
 *
 * `approve_routes` replaces the whole set of a node, in which an administrator may have put
 * routes of their own. So: read, merge, write; only our node, only our prefixes.
 */

import type { Prefix } from "../ip/prefix.ts";
import { TAILNET_IPV4, TAILNET_IPV6 } from "../ip/well_known.ts";
import { HeadcniError } from "../sys/errors.ts";
import type { HeadscaleNode } from "./nodes.ts";

/**
 * `current` with `mine` in it: what is there stays, in its order, and nothing is there twice.
 *
 * @example
 * ```ts
 * import { mergeApproved } from "./approved_routes.ts";
 * import { parsePrefix } from "../ip/prefix.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const office = parsePrefix("192.168.7.0/24");
 * const pods = parsePrefix("10.244.3.0/24");
 * assertEquals(mergeApproved([office], [pods]).map(String), ["192.168.7.0/24", "10.244.3.0/24"]);
 * ```
 */
export function mergeApproved(
  current: readonly Prefix[],
  mine: readonly Prefix[],
): readonly Prefix[] {
  return [...current, ...mine].filter((prefix, index, all) =>
    all.findIndex((other) => other.equals(prefix)) === index
  );
}

/** `current` without `mine`: what somebody else had approved stays. */
export function withoutApproved(
  current: readonly Prefix[],
  mine: readonly Prefix[],
): readonly Prefix[] {
  return current.filter((prefix) => !includes(mine, prefix));
}

/** Whether `prefix` is among `prefixes`, written the same. */
export function includes(prefixes: readonly Prefix[], prefix: Prefix): boolean {
  return prefixes.some((other) => other.equals(prefix));
}

/** Why a prefix must not be advertised. */
export interface PrefixRefusal {
  readonly prefix: Prefix;
  /**
   * - `Default`: it is everything, which is an exit node's to offer.
   * - `HostBits`: it is an address in a network rather than a network.
   * - `Tailnet`: it overlaps the addresses of the tailnet itself.
   * - `Overlap`: another node has it, or part of it.
   */
  readonly why: "Default" | "HostBits" | "Tailnet" | "Overlap";
  readonly reason: string;
  /** The node that has it, for `Overlap`. */
  readonly node?: HeadscaleNode;
  /** What that node has, for `Overlap`. */
  readonly theirs?: Prefix;
}

/** Prefixes that were refused, each with its reason; nothing was changed. */
export class RouteRefusedError extends HeadcniError {
  override readonly name = "RouteRefusedError";
  readonly refusals: readonly PrefixRefusal[];

  constructor(refusals: readonly PrefixRefusal[]) {
    const overlap = refusals.find(({ why }) => why === "Overlap")?.node;
    super({
      operation: "approve",
      subject: refusals.map(({ prefix }) => `${prefix}`).join(", "),
      reason: refusals.map(({ reason }) => reason).join("; "),
      remedy: overlap === undefined
        ? "Choose another pod CIDR for this node"
        : `Choose another pod CIDR for one of the two nodes; if ${overlap.givenName} is gone for ` +
          `good: headscale nodes delete -i ${overlap.id}`,
    });
    this.refusals = refusals;
  }
}

/**
 * What is wrong with `mine` as the routes of node `ownId`, given all nodes: nothing, usually.
 *
 * Default routes of other nodes are no conflict: a longer prefix wins over them. What another
 * node has is what it advertises, and what it was approved for and may advertise any moment.
 */
export function refusedPrefixes(
  mine: readonly Prefix[],
  ownId: string,
  nodes: readonly HeadscaleNode[],
): readonly PrefixRefusal[] {
  const others = nodes.filter(({ id }) => id !== ownId);
  return mine.flatMap((prefix) => {
    const ofItself = refusedByItself(prefix);
    return ofItself === undefined ? overlaps(prefix, others) : [ofItself];
  });
}

function refusedByItself(prefix: Prefix): PrefixRefusal | undefined {
  if (prefix.length === 0) {
    return { prefix, why: "Default", reason: `${prefix} is everything, not a pod CIDR` };
  }
  if (!prefix.isNetwork) {
    const reason = `${prefix} has host bits set; did you mean ${prefix.masked()}?`;
    return { prefix, why: "HostBits", reason };
  }
  const tailnet = [TAILNET_IPV4, TAILNET_IPV6].find((range) => range.overlaps(prefix));
  if (tailnet === undefined) return undefined;
  const reason = `${prefix} overlaps ${tailnet}, where the tailnet's own addresses are`;
  return { prefix, why: "Tailnet", reason };
}

function overlaps(prefix: Prefix, others: readonly HeadscaleNode[]): PrefixRefusal[] {
  return others.flatMap((node) => {
    const all = [...node.advertised, ...node.approved];
    const theirs = all.find((other) => other.length > 0 && other.overlaps(prefix));
    if (theirs === undefined) return [];
    const who = `node ${node.id} (${node.givenName}, ${node.online ? "online" : "offline"})`;
    const has = includes(node.advertised, theirs) ? "advertises" : "is approved for";
    const reason = `${who} ${has} ${theirs}`;
    return [{ prefix, why: "Overlap" as const, reason, node, theirs }];
  });
}
