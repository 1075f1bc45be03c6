/**
 * Uplinks that learn their network from router advertisements.
 *
 * A kernel that forwards IPv6 takes itself for a router: it forgets the default routes it has
 * learned and learns no more (`addrconf_forward_change()` in `net/ipv6/addrconf.c`), and the node
 * is off the network when the first IPv6 pod starts. `accept_ra=2` means "even so". Set only where
 * something was learned: any other link may lead to a container, which must never be taken for a
 * router (CVE-2020-10749).
 */

import { listAddresses } from "../../netlink/address.ts";
import { type NetlinkConnection } from "../../netlink/connection.ts";
import { IFA_F_PERMANENT } from "../../netlink/constants/if_addr.ts";
import { RT_SCOPE_UNIVERSE, RTPROT_RA } from "../../netlink/constants/rtnetlink.ts";
import { isErrno } from "../../netlink/errors.ts";
import { listLinks } from "../../netlink/link.ts";
import { listRoutes } from "../../netlink/route.ts";
import { readSysctl, writeSysctl } from "../../netlink/sysctl.ts";
import { HOST_INTERFACE_PREFIX } from "./host_interface.ts";

/** Listens to routers, unless the node is one itself. */
const ACCEPT_UNLESS_FORWARDING = "1";
/** Listens to routers in any case. */
const ACCEPT_ALWAYS = 2;

/** Lets uplinks go on learning when the node forwards; call it before. `route` is of the node. */
export function keepUplinksLearning(route: NetlinkConnection): void {
  const learned = learningLinks(route);
  for (const { index, name } of listLinks(route)) {
    if (!learned.has(index) || name.startsWith(HOST_INTERFACE_PREFIX)) continue;
    const setting = `net/ipv6/conf/${name}/accept_ra`;
    try {
      // Zero is a person's word, or a program's that listens in the kernel's place.
      if (readSysctl(setting) === ACCEPT_UNLESS_FORWARDING) writeSysctl(setting, ACCEPT_ALWAYS);
    } catch (error) {
      if (!isErrno(error, "ENOENT")) throw error; // it went away
    }
  }
}

/** Indexes of links with a route, or an address that ends some day, from an advertisement. */
function learningLinks(route: NetlinkConnection): ReadonlySet<number | undefined> {
  const routes = listRoutes(route, { family: 6, protocol: RTPROT_RA });
  const addresses = listAddresses(route, { family: 6 }).filter(({ flags, scope }) =>
    (flags & IFA_F_PERMANENT) === 0 && scope === RT_SCOPE_UNIVERSE
  );
  return new Set([
    ...routes.flatMap(({ index, nextHops }) => [index, ...nextHops.map((hop) => hop.index)]),
    ...addresses.map(({ index }) => index),
  ]);
}
