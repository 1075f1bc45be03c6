/** Looks at network namespaces: links, rules, routes, settings, packet filter. */

import type { Family, Prefix } from "../../ip/mod.ts";
import {
  areMasqueraded,
  isRoomLoaded,
  isRulesetLoaded,
  listClusterNetworks,
  listTunnels,
} from "../../firewall/mod.ts";
import { NETLINK_NETFILTER } from "../../netlink/constants/netlink.ts";
import { RT_TABLE_MAIN, RTN_UNREACHABLE } from "../../netlink/constants/rtnetlink.ts";
import {
  findLink,
  isErrno,
  listRoutes,
  listRules,
  type NetlinkConnection,
  type Netns,
  NetnsError,
  openConnection,
  openNetns,
  readSysctl,
} from "../../netlink/mod.ts";
import { netnsPath } from "../../netlink/named_netns.ts";
import { INSIDE, ISOLATION_NAME, OUTSIDE, RTPROT_HEADCNI } from "../../tailscale/mod.ts";
import { PRIORITIES, ROOM_TABLE } from "./kernel_plan.ts";
import type { FilterView, KernelView, RoomView } from "./observed.ts";

/** Settings that make the kernel forward, by family. */
export const FORWARDING: Readonly<Record<Family, string>> = {
  4: "net/ipv4/ip_forward",
  6: "net/ipv6/conf/all/forwarding",
};

/** Connections to the node's own namespace, opened once. */
export class NodeKernel implements Disposable {
  readonly route: NetlinkConnection = openConnection();
  readonly filter: NetlinkConnection = openConnection({ protocol: NETLINK_NETFILTER });

  /** The node's namespace. */
  view(tun: string): KernelView {
    return observeKernel(this.route, { tun });
  }

  /** The node's packet filter. */
  filterView(): FilterView {
    if (!isRulesetLoaded(this.filter)) return { isLoaded: false, tunnels: [], cluster: [] };
    return {
      isLoaded: true,
      tunnels: listTunnels(this.filter),
      cluster: listClusterNetworks(this.filter),
    };
  }

  /** The namespace of an isolated tailscaled, and the cable to it. */
  roomView(tun: string): RoomView | undefined {
    const cable = findLink(this.route, { name: OUTSIDE.link });
    using room = openRoom();
    if (room === undefined) return undefined;
    using route = openConnection({ netns: room });
    using filter = openConnection({ netns: room, protocol: NETLINK_NETFILTER });
    const inner = findLink(route, { name: INSIDE.link });
    const addresses = INSIDE.addresses.map(({ address }) => address);
    const isLoaded = isRulesetLoaded(this.filter);
    return {
      isJoined: cable?.up === true && inner?.up === true,
      routes: cable === undefined ? [] : routesBy(this.route, cable.index, ROOM_TABLE),
      routesBack: inner === undefined ? [] : routesBy(route, inner.index),
      isMasqueraded: isLoaded && areMasqueraded(this.filter, addresses),
      isFilterLoaded: isRoomLoaded(filter),
      kernel: observeKernel(route, { tun, netns: room }),
    };
  }

  [Symbol.dispose](): void {
    this.route[Symbol.dispose]();
    this.filter[Symbol.dispose]();
  }
}

/** Destinations of our routes by a link. */
function routesBy(route: NetlinkConnection, index: number, table = RT_TABLE_MAIN): Prefix[] {
  return listRoutes(route, { table, protocol: RTPROT_HEADCNI })
    .filter((found) => found.index === index).map(({ destination }) => destination);
}

/** The namespace of an isolated tailscaled; `undefined` if there is none. */
export function openRoom(): Netns | undefined {
  try {
    return openNetns(netnsPath(ISOLATION_NAME));
  } catch (error) {
    if (error instanceof NetnsError && error.kind !== "refused") return undefined;
    throw error;
  }
}

function observeKernel(
  route: NetlinkConnection,
  { tun, netns }: { readonly tun: string; readonly netns?: Netns },
): KernelView {
  const link = findLink(route, { name: tun });
  const rules = listRules(route).filter(({ priority }) =>
    priority >= PRIORITIES.first && priority <= PRIORITIES.last
  );
  return {
    tunnel: link === undefined ? undefined : { mtu: link.mtu, isUp: link.up },
    rules: rules.map(({ protocol, ...rule }) => ({ ...rule, isOurs: protocol === RTPROT_HEADCNI })),
    unreachable: listRoutes(route, { protocol: RTPROT_HEADCNI, type: RTN_UNREACHABLE })
      .map(({ destination }) => destination),
    forwards: ([4, 6] as const).filter((family) => forwards(family, netns)),
  };
}

/** A kernel without IPv6 has none of its settings. */
function forwards(family: Family, netns: Netns | undefined): boolean {
  try {
    return readSysctl(FORWARDING[family], netns === undefined ? {} : { netns }) !== "0";
  } catch (error) {
    if (!isErrno(error, "ENOENT")) throw error;
    return false;
  }
}
