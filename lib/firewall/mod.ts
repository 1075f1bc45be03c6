/**
 * The packet filter: the nft tables `inet headcni` and `arp headcni`, and nobody else's.
 *
 * The base ruleset is data (`ruleset.ts`), becomes text (`render.ts`) and is loaded by one
 * atomic `nft -f -` when a probe finds that it is missing (`load.ts`). From then on a pod is a
 * few set elements, added and removed by netlink in one transaction (`pods.ts`): no program is
 * run when a pod starts.
 *
 * ```ts ignore
 * using connection = openConnection({ protocol: NETLINK_NETFILTER });
 * const pod: PodRules = {
 *   hostInterface: "hcni0a1b2c3d",
 *   addresses: [parseAddress("10.244.3.7"), parseAddress("fd00:3::7")],
 *   masquerade: true,
 *   antiSpoof: true,
 *   hostPorts: [{ protocol: "tcp", hostPort: 8080, containerPort: 80 }],
 * };
 * await establishPod(connection, pod, { knownPods: () => podsOf(store) });
 * removePod(connection, pod);
 * ```
 *
 * @module
 */

export { elementsOf, formatElement, type OwnSet, type PodElement } from "./elements.ts";
export {
  FirewallError,
  type HostPortConflict,
  HostPortConflictError,
  RulesetMissingError,
} from "./errors.ts";
export { type EstablishOptions, establishPod } from "./establish.ts";
export type { Protocol } from "./field.ts";
export {
  listPods,
  type PodElements,
  removeOwned,
  removeStalePods,
  stalePods,
} from "./inventory.ts";
export {
  ensureRuleset,
  isRulesetLoaded,
  type LoadOptions,
  type LoadOutcome,
  type ProbeOptions,
  removeAll,
} from "./load.ts";
export type { NftOptions } from "./nft_program.ts";
export {
  addClusterNetworks,
  addMasqueraded,
  areMasqueraded,
  listClusterNetworks,
  listTunnels,
  setClusterNetworks,
  setTunnels,
} from "./node_sets.ts";
export type { HostPort, PodRules } from "./pod_rules.ts";
export {
  addPod,
  claimHostPorts,
  podDifferences,
  removePod,
  type Rival,
  type RivalOptions,
} from "./pods.ts";
export { renderRuleset } from "./render.ts";
export { isRoomLoaded, loadRoom, type RoomSpec } from "./room.ts";
export { HOST_INTERFACE_PREFIX, RULESET, type Ruleset, TABLE } from "./ruleset.ts";
export { forgetUdpFlows } from "./udp_flows.ts";
