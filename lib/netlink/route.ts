/** Routes: add, delete, list, look up. */

import type { Family, IpAddress, Prefix } from "../ip/mod.ts";
import type { NetlinkConnection } from "./connection.ts";
import { NLM_F_APPEND, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE } from "./constants/netlink.ts";
import {
  RT_SCOPE_HOST,
  RT_SCOPE_LINK,
  RT_SCOPE_NOWHERE,
  RT_SCOPE_UNIVERSE,
  RT_TABLE_MAIN,
  RTA_DST,
  RTA_MARK,
  RTA_OIF,
  RTA_SRC,
  RTA_TABLE,
  RTM_DELROUTE,
  RTM_F_CLONED,
  RTM_F_LOOKUP_TABLE,
  RTM_GETROUTE,
  RTM_NEWROUTE,
  RTN_BROADCAST,
  RTN_LOCAL,
  RTN_UNICAST,
  RTPROT_BOOT,
  RTPROT_UNSPEC,
} from "./constants/rtnetlink.ts";
import { isErrno } from "./errors.ts";
import { toAddressFamily } from "./family.ts";
import { PayloadEncoder } from "./payload_encoder.ts";
import type { Request } from "./request.ts";
import { putRouteAttributes, putRouteHeader } from "./route_encode.ts";
import { decodeRoute, type Route } from "./route_decode.ts";

/** One of several ways to a destination. */
export interface NextHopSpec {
  readonly gateway?: IpAddress;
  /** Link index. */
  readonly index?: number;
  /** Share of the traffic, 1 to 256. */
  readonly weight?: number;
  /** Take the gateway to be on the link, whatever the routes say. */
  readonly onlink?: boolean;
}

/** A route to add. */
export interface RouteSpec {
  /** `0.0.0.0/0` or `::/0` for the default route. */
  readonly destination: Prefix;
  readonly gateway?: IpAddress;
  /** Link index. */
  readonly index?: number;
  /** Several next hops, instead of `gateway` and `index`. */
  readonly nextHops?: readonly NextHopSpec[];
  /** Take the gateway to be on the link, whatever the routes say. */
  readonly onlink?: boolean;
  /** `RT_SCOPE_*`; like `ip`: link without a gateway, global with one. IPv6 has none. */
  readonly scope?: number;
  /** @default {254} main */
  readonly table?: number;
  /** Metric: the lower, the better. */
  readonly priority?: number;
  /** `RTPROT_*`, who made the route. @default {3} boot, as `ip` */
  readonly protocol?: number;
  /** `RTN_*`: unicast, unreachable, blackhole, … @default {1} unicast */
  readonly type?: number;
  /** Preferred source address. */
  readonly source?: IpAddress;
  readonly mtu?: number;
  /** Segment size announced to TCP peers. */
  readonly advmss?: number;
}

/**
 * Fails with `EEXIST` if there is one of the same destination, table and priority. ≈ `ip
 * route add PREFIX via GATEWAY dev NAME …`
 */
export function addRoute(spec: RouteSpec): Request {
  return change("add route", spec, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL);
}

/** ≈ `ip route replace PREFIX …` */
export function replaceRoute(spec: RouteSpec): Request {
  return change("replace route", spec, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE);
}

/** ≈ `ip route append PREFIX …` */
export function appendRoute(spec: RouteSpec): Request {
  return change("append route", spec, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_APPEND);
}

/** Deletes the first route that has all that is given. ≈ `ip route del PREFIX …` */
export function deleteRoute(spec: RouteSpec): Request {
  return change("delete route", spec, RTM_DELROUTE, 0);
}

/** Which routes to list. The kernel does the filtering where it is new enough (Linux 4.20). */
export interface RouteFilter {
  readonly family?: Family;
  /** All tables if absent. */
  readonly table?: number;
  /** Link index. */
  readonly index?: number;
  /** `RTPROT_*`. */
  readonly protocol?: number;
  /** `RTN_*`. */
  readonly type?: number;
}

/** ≈ `ip [-4|-6] route show table TABLE [dev NAME] [proto PROTO] [type TYPE]` */
export function listRoutes(connection: NetlinkConnection, filter: RouteFilter = {}): Route[] {
  const { family, table, index, protocol, type } = filter;
  const encoder = putRouteHeader(new PayloadEncoder(), {
    family: toAddressFamily(family),
    protocol: protocol ?? RTPROT_UNSPEC,
    type: type ?? 0,
  });
  if (table !== undefined) encoder.u32(RTA_TABLE, table);
  if (index !== undefined) encoder.u32(RTA_OIF, index);
  const request: Request = {
    operation: "list routes",
    type: RTM_GETROUTE,
    flags: 0,
    payload: encoder.finish(),
  };
  try {
    return connection.dump(request, (message) => {
      const route = decodeRoute(message);
      if (route === undefined || (route.flags & RTM_F_CLONED) !== 0) return undefined;
      return matches(route, filter) ? route : undefined;
    });
  } catch (error) {
    // A table nobody has put a route into does not exist.
    if (table !== undefined && isErrno(error, "ENOENT")) return [];
    throw error;
  }
}

/** What to look up. */
export interface RouteLookup {
  readonly destination: IpAddress;
  readonly source?: IpAddress;
  /** Link index the packet leaves by. */
  readonly index?: number;
  /** Firewall mark. */
  readonly mark?: number;
}

/**
 * The route a packet takes. ≈ `ip route get ADDRESS [from SOURCE] [oif NAME] [mark MARK]`
 *
 * @throws {NetlinkError} `ENETUNREACH` or `EHOSTUNREACH` if there is none.
 */
export function getRoute(connection: NetlinkConnection, lookup: RouteLookup): Route | undefined {
  const { destination, source, index, mark } = lookup;
  const encoder = putRouteHeader(new PayloadEncoder(), {
    family: toAddressFamily(destination.family),
    destinationLength: destination.bits,
    sourceLength: source?.bits ?? 0,
    // Tells the table the route was found in; IPv6 always does and refuses the flag.
    flags: destination.family === 4 ? RTM_F_LOOKUP_TABLE : 0,
  }).address(RTA_DST, destination);
  if (source !== undefined) encoder.address(RTA_SRC, source);
  if (index !== undefined) encoder.u32(RTA_OIF, index);
  if (mark !== undefined) encoder.u32(RTA_MARK, mark);
  const request: Request = {
    operation: "look up route",
    subject: () => `to ${destination}`,
    type: RTM_GETROUTE,
    flags: 0,
    payload: encoder.finish(),
  };
  return decodeRoute(connection.query(request));
}

function change(operation: string, spec: RouteSpec, type: number, flags: number): Request {
  const table = spec.table ?? RT_TABLE_MAIN;
  const deleting = type === RTM_DELROUTE;
  const encoder = putRouteHeader(new PayloadEncoder(), {
    family: toAddressFamily(spec.destination.family),
    destinationLength: spec.destination.length,
    table,
    // Zero matches every protocol and type when deleting.
    protocol: spec.protocol ?? (deleting ? RTPROT_UNSPEC : RTPROT_BOOT),
    scope: spec.scope ?? (deleting ? RT_SCOPE_NOWHERE : defaultScope(spec)),
    type: spec.type ?? (deleting ? 0 : RTN_UNICAST),
    onlink: spec.onlink ?? false,
  });
  putRouteAttributes(encoder, spec);
  const subject = () => describe(spec, table);
  return { operation, subject, type, flags, payload: encoder.finish() };
}

/** What `ip route add` assumes; the kernel takes the scope as it is given. */
function defaultScope(spec: RouteSpec): number {
  if (spec.destination.family === 6) return RT_SCOPE_UNIVERSE;
  const type = spec.type ?? RTN_UNICAST;
  if (type === RTN_LOCAL) return RT_SCOPE_HOST;
  if (type === RTN_BROADCAST) return RT_SCOPE_LINK;
  const direct = spec.gateway === undefined && spec.nextHops === undefined;
  return type === RTN_UNICAST && direct ? RT_SCOPE_LINK : RT_SCOPE_UNIVERSE;
}

function matches(route: Route, filter: RouteFilter): boolean {
  return (filter.table === undefined || route.table === filter.table) &&
    (filter.protocol === undefined || route.protocol === filter.protocol) &&
    (filter.type === undefined || route.type === filter.type) &&
    (filter.index === undefined || route.index === filter.index ||
      route.nextHops.some((hop) => hop.index === filter.index));
}

function describe(spec: RouteSpec, table: number): string {
  const parts = [`${spec.destination}`];
  if (spec.gateway !== undefined) parts.push(`via ${spec.gateway}`);
  for (const hop of spec.nextHops ?? []) parts.push(`nexthop ${hop.gateway ?? hop.index}`);
  if (spec.index !== undefined) parts.push(`on link ${spec.index}`);
  if (table !== RT_TABLE_MAIN) parts.push(`in table ${table}`);
  return parts.join(" ");
}
