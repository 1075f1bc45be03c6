/** Carries out the steps that change the kernel. */

import {
  addClusterNetworks,
  addMasqueraded,
  ensureRuleset,
  loadRoom,
  type PodRules,
  setTunnels,
} from "../../firewall/mod.ts";
import type { Prefix } from "../../ip/mod.ts";
import { RTN_UNREACHABLE } from "../../netlink/constants/rtnetlink.ts";
import {
  addRule,
  deleteRoute,
  deleteRule,
  getLink,
  isErrno,
  type NetlinkConnection,
  type Netns,
  openConnection,
  replaceRoute,
  type Request,
  writeSysctl,
} from "../../netlink/mod.ts";
import { netnsPath } from "../../netlink/named_netns.ts";
import type { Log } from "../../sys/log.ts";
import {
  ensureIsolation,
  INSIDE,
  ISOLATION_NAME,
  OUTSIDE,
  RTPROT_HEADCNI,
  syncIsolationRoutes,
} from "../../tailscale/mod.ts";
import { ROOM_TABLE } from "./kernel_plan.ts";
import { FORWARDING, type NodeKernel, openRoom } from "./observe_kernel.ts";
import type { Step, Where } from "./step.ts";

/** Steps about the kernel. */
export type KernelStep = Extract<Step, {
  do:
    | "joinRoom"
    | "forward"
    | "addRule"
    | "deleteRule"
    | "addUnreachable"
    | "deleteUnreachable"
    | "loadFilter"
    | "setTunnels"
    | "addCluster"
    | "masqueradeRoom"
    | "loadRoomFilter"
    | "routeToRoom"
    | "routeFromRoom";
}>;

/** Any other route to the same network, a local link's say, is better. */
const UNREACHABLE_METRIC = 0x7fff_ffff;

/** What the steps work with. */
export interface KernelContext {
  readonly kernel: NodeKernel;
  readonly tun: string;
  /** All pods of the node; asked only when the packet filter had to be loaded. */
  readonly pods: () => readonly PodRules[];
  readonly log: Log;
}

/** Carries out `step`. @throws {NetlinkError} {@linkcode FirewallError} */
export async function applyKernel(step: KernelStep, context: KernelContext): Promise<void> {
  const { kernel, tun } = context;
  switch (step.do) {
    case "joinRoom":
      ensureIsolation();
      return;
    case "forward":
      return inside(step.where, kernel, (_, netns) => {
        writeSysctl(FORWARDING[step.family], 1, netns === undefined ? {} : { netns });
      });
    case "addRule":
    case "deleteRule":
    case "addUnreachable":
    case "deleteUnreachable":
      return change(step, kernel);
    case "loadFilter":
      return await loadFilter(context);
    case "setTunnels":
      return setTunnels(kernel.filter, step.names);
    case "addCluster":
      return addClusterNetworks(kernel.filter, step.prefixes);
    case "masqueradeRoom":
      return addMasqueraded(kernel.filter, INSIDE.addresses.map(({ address }) => address));
    case "loadRoomFilter":
      return await loadRoom({
        netnsPath: netnsPath(ISOLATION_NAME),
        tunnel: tun,
        cable: OUTSIDE.addresses,
      });
    case "routeToRoom":
      return syncIsolationRoutes(ensureIsolation(), step.prefixes, { table: ROOM_TABLE });
    case "routeFromRoom":
      return inside("room", kernel, (route) => routeBack(route, step.prefixes));
  }
}

/** In there the pods of this node would be unreachable like all others. */
function routeBack(route: NetlinkConnection, prefixes: readonly Prefix[]): void {
  const { index } = getLink(route, { name: INSIDE.link });
  for (const destination of prefixes) {
    const gateway = OUTSIDE.addresses.find(({ family }) => family === destination.family)?.address;
    if (gateway === undefined) continue;
    route.execute(
      replaceRoute({ destination, gateway, index, onlink: true, protocol: RTPROT_HEADCNI }),
    );
  }
}

/** Rules and routes. What is there already, or gone already, is fine: somebody was faster. */
function change(
  step: Extract<KernelStep, { where: Where }>,
  kernel: NodeKernel,
): void {
  inside(step.where, kernel, (route) => {
    try {
      route.execute(requestOf(step));
    } catch (error) {
      const isAdding = step.do === "addRule" || step.do === "addUnreachable";
      if (!isErrno(error, ...(isAdding ? ["EEXIST"] as const : ["ENOENT", "ESRCH"] as const))) {
        throw error;
      }
    }
  });
}

function requestOf(step: Extract<KernelStep, { where: Where }>): Request {
  switch (step.do) {
    case "addRule":
      return addRule({ ...step.rule, protocol: RTPROT_HEADCNI });
    case "deleteRule":
      return deleteRule({ ...step.rule, protocol: RTPROT_HEADCNI });
    case "addUnreachable":
      return replaceRoute(unreachable(step.prefix));
    case "deleteUnreachable":
      return deleteRoute(unreachable(step.prefix));
    default:
      throw new TypeError(`Cannot make a request of the step ${step.do}`);
  }
}

function unreachable(destination: Prefix) {
  return {
    destination,
    type: RTN_UNREACHABLE,
    priority: UNREACHABLE_METRIC,
    protocol: RTPROT_HEADCNI,
  };
}

/** Loads the tables, and what they should hold of the pods that run, in one transaction. */
async function loadFilter({ kernel, pods, log }: KernelContext): Promise<void> {
  await ensureRuleset(kernel.filter, {
    knownPods: pods,
    onFailure: (error) => log.warn("rules of a pod cannot be restored", { error }),
  });
}

function inside(
  where: Where,
  kernel: NodeKernel,
  work: (route: NetlinkConnection, netns: Netns | undefined) => void,
): void {
  if (where === "node") return work(kernel.route, undefined);
  using room = openRoom();
  if (room === undefined) return;
  using route = openConnection({ netns: room });
  work(route, room);
}
