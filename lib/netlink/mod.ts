/**
 * Netlink for Deno: links, addresses, routes, rules, neighbours, traffic control, connection
 * tracking and nftables sets, through libmnl by FFI.
 *
 * From meaning to bytes: an operation (`addRoute`) makes a {@linkcode Request}; a
 * {@linkcode NetlinkConnection} sends it, alone or with others in one datagram, and turns a
 * refusal into a {@linkcode NetlinkError}; a socket carries the bytes; `libmnl.ts` and
 * `libc.ts` are the system calls. Everything but the monitor is synchronous: the kernel
 * answers inside the call.
 *
 * ```ts ignore
 * using netns = openNetns("/run/netns/blue");
 * using blue = openConnection({ netns });
 * const { index } = getLink(blue, { name: "eth0" });
 * blue.batch([
 *   setLinkUp({ index }),
 *   addAddress({ index, address: parsePrefix("10.0.0.2/24") }),
 *   addRoute({ destination: parsePrefix("0.0.0.0/0"), gateway: parseAddress("10.0.0.1") }),
 * ]);
 * ```
 *
 * Constants keep their C names and live in `constants/`, one file per kernel header. What a
 * short-lived program does not need (monitor, traffic control, netfilter) is in modules of
 * its own: import `monitor.ts`, `qdisc.ts`, `filter.ts`, `conntrack.ts`, `nftables.ts` and
 * `named_netns.ts` where they are used.
 *
 * @module
 */

export {
  addAddress,
  type Address,
  type AddressFilter,
  type AddressSpec,
  decodeAddress,
  deleteAddress,
  listAddresses,
  replaceAddress,
} from "./address.ts";
export { NetlinkConnection, openConnection, type Outcome } from "./connection.ts";
export { type ErrnoName, errnoName } from "./errno.ts";
export {
  DumpInterruptedError,
  InvalidRequestError,
  isErrno,
  MalformedMessageError,
  NetlinkError,
  NetnsError,
  type NetnsErrorKind,
} from "./errors.ts";
export { LibmnlError, type LibmnlSource, libmnlSource } from "./libmnl.ts";
export {
  changeLink,
  deleteLink,
  findLink,
  getLink,
  type LinkChanges,
  type LinkFilter,
  type LinkReference,
  linkRequest,
  listLinks,
  moveLink,
  renameLink,
  setLinkAlias,
  setLinkDown,
  setLinkMac,
  setLinkMaster,
  setLinkMtu,
  setLinkUp,
} from "./link.ts";
export {
  type BridgeSpec,
  createBridge,
  createIfb,
  createLink,
  createVeth,
  type LinkSpec,
  type VethSpec,
} from "./link_create.ts";
export { decodeLink, type Link } from "./link_decode.ts";
export { checkLinkName } from "./link_name.ts";
export { formatMac, parseMac } from "./mac.ts";
export {
  addNeighbour,
  deleteNeighbour,
  listNeighbours,
  type Neighbour,
  type NeighbourFilter,
  type NeighbourSpec,
  replaceNeighbour,
} from "./neighbour.ts";
export {
  inNetns,
  Netns,
  openNetns,
  openNetnsOfFd,
  openNetnsOfPid,
  openOwnNetns,
  type Synchronous,
} from "./netns.ts";
export type { Request } from "./request.ts";
export {
  addRoute,
  appendRoute,
  deleteRoute,
  getRoute,
  listRoutes,
  type NextHopSpec,
  replaceRoute,
  type RouteFilter,
  type RouteLookup,
  type RouteSpec,
} from "./route.ts";
export { decodeRoute, type NextHop, type Route } from "./route_decode.ts";
export { addRule, decodeRule, deleteRule, listRules, type Rule, type RuleSpec } from "./rule.ts";
export { type NetlinkSocket, openSocket, type SocketOptions } from "./socket.ts";
export { readSysctl, type SysctlOptions, writeSysctl } from "./sysctl.ts";
