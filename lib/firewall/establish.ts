/** A pod's rules on a node of which nothing is known: load, restore, add, in the right order. */

import type { Prefix } from "../ip/mod.ts";
import type { NetlinkConnection } from "../netlink/mod.ts";
import type { HeadcniError } from "../sys/errors.ts";
import { RulesetMissingError } from "./errors.ts";
import { ensureRuleset, type LoadOptions } from "./load.ts";
import { setClusterNetworks, setTunnels } from "./node_sets.ts";
import type { PodRules } from "./pod_rules.ts";
import { addPod, addPods } from "./pods.ts";
import { forgetUdpFlows } from "./udp_flows.ts";

/** All that should be in the sets, as the store knows it. */
export interface NodeRules {
  readonly pods: readonly PodRules[];
  /** Left as they are if absent. */
  readonly clusterNetworks?: readonly Prefix[];
  /** Left as they are if absent. */
  readonly tunnels?: readonly string[];
}

/** Options for {@linkcode establishPod}. */
export interface EstablishOptions extends Omit<LoadOptions, "quick"> {
  /** Asked only when the ruleset had to be loaded, because elements may be lost with it. */
  readonly knownRules: () => NodeRules;
}

/**
 * Makes sure that the ruleset is loaded and that `pod` is in it. If the ruleset was missing, all
 * that is known is added again: the pods of a node whose rules somebody flushed work again with
 * the next pod that starts, daemon or not.
 *
 * @returns what could not be restored of other pods, for the log.
 * @throws {HostPortConflictError} a host port leads to another pod; nothing of `pod` was added.
 * @throws {FirewallError} the ruleset cannot be loaded, or the rules make no sense.
 */
export async function establishPod(
  connection: NetlinkConnection,
  pod: PodRules,
  options: EstablishOptions,
): Promise<HeadcniError[]> {
  const failures: HeadcniError[] = [];
  const load = async (quick: boolean) => {
    if (await ensureRuleset(connection, { ...options, quick }) === "current") return;
    failures.push(...restoreRules(connection, options.knownRules()));
  };
  await load(true);
  try {
    addPod(connection, pod);
  } catch (error) {
    // A set that the quick probe did not ask for, or a flush since then.
    if (!(error instanceof RulesetMissingError)) throw error;
    await load(false);
    addPod(connection, pod);
  }
  forgetUdpFlows(connection, pod);
  return failures;
}

/**
 * Adds all that is known.
 *
 * @returns what could not be added, one error for each pod; everything else is in place.
 * @throws {RulesetMissingError} the tables are not loaded.
 */
export function restoreRules(
  connection: NetlinkConnection,
  { pods, clusterNetworks, tunnels }: NodeRules,
): HeadcniError[] {
  if (clusterNetworks !== undefined) setClusterNetworks(connection, clusterNetworks);
  if (tunnels !== undefined) setTunnels(connection, tunnels);
  return addPods(connection, pods);
}
