/** What an attachment needs of the packet filter, and what the node needs before it. */

import { establishPod } from "../../firewall/establish.ts";
import { addClusterNetworks } from "../../firewall/node_sets.ts";
import { removePod } from "../../firewall/pods.ts";
import { type PodRules } from "../../firewall/pod_rules.ts";
import { type Prefix } from "../../ip/prefix.ts";
import { type NetlinkConnection } from "../../netlink/connection.ts";
import { type PluginConfig } from "../plugin_config.ts";
import { TUNNEL_INTERFACES } from "./tunnel_mtu.ts";

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
  /** All pods of the node; asked for only when the tables had to be loaded. */
  readonly allPods: () => readonly PodRules[];
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
  const { clusterNetworks, allPods } = options;
  const failures = await establishPod(filter, pod, {
    knownRules: () => ({ pods: allPods(), tunnels: Object.values(TUNNEL_INTERFACES) }),
  });
  addClusterNetworks(filter, clusterNetworks);
  return failures;
}

/** Removes a pod's rules; nothing there is fine. */
export function removeFromFilter(filter: NetlinkConnection, pod: PodRules): void {
  removePod(filter, pod);
}
