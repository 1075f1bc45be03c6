/**
 * The node's own part: rules, routes, forwarding, packet filter. None of it needs tailscaled or
 * Headscale, so that a node fails closed whatever is away.
 *
 * | what                                        | why                                             |
 * | ------------------------------------------- | ----------------------------------------------- |
 * | rule 5105 `to <own pods> lookup main`       | table 52 comes before main (5270): a broader    |
 * |                                             | prefix of a peer would steal local pods         |
 * | `unreachable <pods>` in main, worst metric  | without the tunnel, packets for pods of other   |
 * |                                             | nodes would leave by the default route, in clear |
 * | rules 5120, 5121 and table 5100             | isolation only: pods use our tailscaled, the    |
 * |                                             | node itself its own                             |
 */

import { type AddressRange, type Prefix, wholeRange } from "../../ip/mod.ts";
import { TAILNET_IPV4, TAILNET_IPV6 } from "../../ip/well_known.ts";
import { RT_TABLE_MAIN } from "../../netlink/constants/rtnetlink.ts";
import { minus } from "./cluster.ts";
import type { Desired } from "./desired.ts";
import type { KernelView, Observed, RuleView } from "./observed.ts";
import type { RuleWish, Step, Where } from "./step.ts";

/** Rules of ours have a priority from … to …; tailscaled watches 5200 to 5299. */
export const PRIORITIES = { first: 5100, last: 5190 } as const;

const GUARD = 5105;
const FROM_PODS = 5120;
const TO_PODS = 5121;

/** Routes to an isolated tailscaled; a number nobody uses, outside of the 255 with names. */
export const ROOM_TABLE = 5100;

/** What is to be done to the kernel so that `cluster` is reached by the tunnel or not at all. */
export function planKernel(
  desired: Desired,
  observed: Pick<Observed, "node" | "filter" | "room">,
  cluster: readonly Prefix[],
): Step[] {
  const { node, filter, room } = observed;
  const isolated = desired.isolation === "netns";
  return [
    ...(isolated ? planRoom(desired, room, cluster) : []),
    ...planForwarding("node", node, desired.prefixes),
    // Before the rules: at no moment may a packet find the default route only.
    ...planUnreachable("node", node, cluster),
    ...planRules("node", node, nodeRules(desired, cluster)),
    ...planFilter(desired, filter, cluster),
  ];
}

function nodeRules(desired: Desired, cluster: readonly Prefix[]): readonly RuleWish[] {
  const guards = guardRules(desired.prefixes);
  if (desired.isolation === "none") return guards;
  return [
    ...guards,
    ...desired.prefixes.map((source) => ({
      family: source.family,
      priority: FROM_PODS,
      source,
      table: ROOM_TABLE,
    })),
    ...minus(cluster, desired.prefixes).map((destination) => ({
      family: destination.family,
      priority: TO_PODS,
      destination,
      table: ROOM_TABLE,
    })),
  ];
}

function guardRules(own: readonly Prefix[]): readonly RuleWish[] {
  return own.map((destination) => ({
    family: destination.family,
    priority: GUARD,
    destination,
    table: RT_TABLE_MAIN,
  }));
}

function planRoom(
  desired: Desired,
  room: Observed["room"],
  cluster: readonly Prefix[],
): Step[] {
  if (room === undefined || !room.isJoined) return [{ do: "joinRoom" }];
  const { prefixes } = desired;
  const families = new Set(prefixes.map(({ family }) => family));
  const routed = [TAILNET_IPV4, TAILNET_IPV6, ...minus(cluster, prefixes)]
    .filter(({ family }) => families.has(family));
  const back = minus(prefixes, room.routesBack);
  const same = routed.length === room.routes.length && minus(routed, room.routes).length === 0;
  return [
    ...planUnreachable("room", room.kernel, minus(cluster, prefixes)),
    ...planRules("room", room.kernel, guardRules(prefixes)),
    ...(room.isMasqueraded ? [] : [{ do: "masqueradeRoom" } as const]),
    ...(room.isFilterLoaded ? [] : [{ do: "loadRoomFilter" } as const]),
    ...(back.length === 0 ? [] : [{ do: "routeFromRoom", prefixes: back } as const]),
    ...(same ? [] : [{ do: "routeToRoom", prefixes: routed } as const]),
  ];
}

function planForwarding(where: Where, kernel: KernelView, own: readonly Prefix[]): Step[] {
  const families = new Set(own.map(({ family }) => family));
  return [...families].filter((family) => !kernel.forwards.includes(family))
    .map((family) => ({ do: "forward", where, family }));
}

function planRules(where: Where, kernel: KernelView, wanted: readonly RuleWish[]): Step[] {
  const ours = kernel.rules.filter(({ isOurs }) => isOurs);
  const present = new Set(ours.map(ruleKey));
  const keys = new Set(wanted.map(ruleKey));
  return [
    ...wanted.filter((rule) => !present.has(ruleKey(rule)))
      .map((rule) => ({ do: "addRule", where, rule } as const)),
    ...ours.filter((rule) => !keys.has(ruleKey(rule)))
      .map((rule) => ({ do: "deleteRule", where, rule: asWish(rule) } as const)),
  ];
}

function asWish({ family, priority, table, source, destination }: RuleView): RuleWish {
  return {
    family,
    priority,
    table,
    ...(source === undefined ? {} : { source }),
    ...(destination === undefined ? {} : { destination }),
  };
}

function ruleKey({ family, priority, table, source, destination }: RuleWish | RuleView): string {
  return [family, priority, table, source ?? "", destination ?? ""].join(" ");
}

function planUnreachable(where: Where, kernel: KernelView, wanted: readonly Prefix[]): Step[] {
  return [
    ...minus(wanted, kernel.unreachable)
      .map((prefix) => ({ do: "addUnreachable", where, prefix } as const)),
    ...minus(kernel.unreachable, wanted)
      .map((prefix) => ({ do: "deleteUnreachable", where, prefix } as const)),
  ];
}

function planFilter(
  desired: Desired,
  filter: Observed["filter"],
  cluster: readonly Prefix[],
): Step[] {
  if (!filter.isLoaded) return [{ do: "loadFilter" }];
  const tunnels = filter.tunnels.includes(desired.tun)
    ? []
    : [{ do: "setTunnels", names: [...filter.tunnels, desired.tun] } as const];
  const missing = cluster.filter((prefix) => !covers(filter.cluster, wholeRange(prefix)));
  return [
    ...tunnels,
    ...(missing.length === 0 ? [] : [{ do: "addCluster", prefixes: missing } as const]),
  ];
}

function covers(ranges: readonly AddressRange[], inner: AddressRange): boolean {
  return ranges.some(({ family, start, end }) =>
    family === inner.family && start.compare(inner.start) <= 0 && end.compare(inner.end) >= 0
  );
}
