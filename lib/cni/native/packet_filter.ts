/** What an attachment needs of the packet filter, and what the node needs before it. */

import { establishPod } from "../../firewall/establish.ts";
import { addClusterNetworks } from "../../firewall/node_sets.ts";
import { removePod, type Rival } from "../../firewall/pods.ts";
import { type PodRules } from "../../firewall/pod_rules.ts";
import { type Prefix } from "../../ip/prefix.ts";
import { type NetlinkConnection } from "../../netlink/connection.ts";
import { findLink } from "../../netlink/link.ts";
import { type PluginConfig } from "../plugin_config.ts";

/** What a configuration asks of the packet filter for every pod. */
export function wishesOf(config: PluginConfig): Omit<PodRules, "hostInterface" | "addresses"> {
  return {
    masquerade: config.ipMasq,
    antiSpoof: config.antiSpoof,
    hostPorts: config.runtime.portMappings.map(({ hostIp, ...port }) =>
      hostIp === undefined ? port : { ...port, hostIp }
    ),
  };
}

/** Options of {@linkcode addToFilter}. */
export interface FilterOptions {
  /** Networks that pods reach under their own address. */
  readonly clusterNetworks: readonly Prefix[];
  /** All pods of the node; asked for only when the tables have to be loaded. */
  readonly allPods: () => readonly PodRules[];
  /** Asked only if a host port leads elsewhere. */
  readonly rivalOf: (hostInterface: string) => Rival;
}

/**
 * Adds a pod's rules. When the tables are not there, or not whole, they are loaded, and with
 * them everything they held: a flushed ruleset heals with the next pod that starts.
 *
 * @returns what could not be restored of other pods, for the log.
 * @throws {FirewallError}
 */
export async function addToFilter(
  filter: NetlinkConnection,
  pod: PodRules,
  options: FilterOptions,
): Promise<readonly Error[]> {
  const { clusterNetworks, allPods, rivalOf } = options;
  const failures = await establishPod(filter, pod, { knownPods: allPods, rivalOf });
  addClusterNetworks(filter, clusterNetworks);
  return failures;
}

/**
 * Judges who has a host port that an attachment asks for. `route` is of the node; the store is read
 * at most once, and only when somebody is in the way.
 */
export function rivals(
  route: NetlinkConnection,
  siblings: () => readonly PodRules[],
): (hostInterface: string) => Rival {
  let known: ReadonlySet<string> | undefined;
  return (hostInterface) => {
    known ??= new Set(siblings().map((sibling) => sibling.hostInterface));
    // An interface comes before its rules. Rules without one are what a DEL has yet to remove.
    if (findLink(route, { name: hostInterface }) === undefined) return "gone";
    return known.has(hostInterface) ? "sibling" : "stranger";
  };
}

/** Removes a pod's rules; nothing there is fine. */
export function removeFromFilter(filter: NetlinkConnection, pod: PodRules): void {
  removePod(filter, pod);
}
