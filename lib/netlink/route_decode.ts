/** Reads a route out of `RTM_NEWROUTE` and `RTM_DELROUTE`. */

import { IpAddress, Prefix } from "../ip/mod.ts";
import { toPrefix } from "./address.ts";
import { nlmsgAlign } from "./align.ts";
import { AttributeDecoder, type Draft } from "./attribute_decoder.ts";
import {
  RTA_DST,
  RTA_GATEWAY,
  RTA_METRICS,
  RTA_MULTIPATH,
  RTA_OIF,
  RTA_PREFSRC,
  RTA_PRIORITY,
  RTA_TABLE,
  RTA_VIA,
  RTAX_ADVMSS,
  RTAX_MTU,
  RTNH_F_ONLINK,
} from "./constants/rtnetlink.ts";
import { MalformedMessageError } from "./errors.ts";
import { toFamily } from "./family.ts";
import type { Message } from "./message.ts";

/** One of several ways to a destination. */
export interface NextHop {
  readonly gateway: IpAddress | undefined;
  readonly index: number;
  readonly weight: number;
  readonly onlink: boolean;
}

/** A route found in the kernel. */
export interface Route {
  readonly destination: Prefix;
  readonly gateway: IpAddress | undefined;
  /** Link index. */
  readonly index: number | undefined;
  /** Empty unless there are several. */
  readonly nextHops: readonly NextHop[];
  readonly onlink: boolean;
  /** `RT_SCOPE_*`. */
  readonly scope: number;
  readonly table: number;
  /** Metric. */
  readonly priority: number | undefined;
  /** `RTPROT_*`. */
  readonly protocol: number;
  /** `RTN_*`. */
  readonly type: number;
  /** Preferred source address. */
  readonly source: IpAddress | undefined;
  readonly mtu: number | undefined;
  readonly advmss: number | undefined;
  /** `RTM_F_*` and `RTNH_F_*` bits. */
  readonly flags: number;
}

/** `sizeof(struct rtmsg)`. */
const HEADER_BYTES = 12;
/** `sizeof(struct rtnexthop)`. */
const NEXT_HOP_BYTES = 8;

const NO_HOPS: readonly NextHop[] = [];

/** The route a message describes; `undefined` for families other than IP, such as MPLS. */
export function decodeRoute(message: Message): Route | undefined {
  const attributes = message.attributes(HEADER_BYTES);
  const { view, start } = message;
  const family = toFamily(view.getUint8(start));
  if (family === undefined) return undefined;
  const flags = view.getUint32(start + 8, true);
  const route: Draft<Route> = {
    destination: new Prefix(new IpAddress(family, 0n), 0),
    gateway: undefined,
    index: undefined,
    nextHops: NO_HOPS,
    onlink: (flags & RTNH_F_ONLINK) !== 0,
    scope: view.getUint8(start + 6),
    table: view.getUint8(start + 4),
    priority: undefined,
    protocol: view.getUint8(start + 5),
    type: view.getUint8(start + 7),
    source: undefined,
    mtu: undefined,
    advmss: undefined,
    flags,
  };
  const length = view.getUint8(start + 1);
  while (attributes.next()) {
    if (attributes.type === RTA_DST) route.destination = toPrefix(attributes.address(), length);
    else readAttribute(route, attributes);
  }
  if (route.destination.family !== family) {
    throw new MalformedMessageError(`IPv${family} route to ${route.destination}`);
  }
  return route;
}

function readAttribute(route: Draft<Route>, attribute: AttributeDecoder): void {
  switch (attribute.type) {
    case RTA_TABLE:
      route.table = attribute.u32();
      break;
    case RTA_GATEWAY:
      route.gateway = attribute.address();
      break;
    case RTA_VIA:
      route.gateway = decodeVia(attribute);
      break;
    case RTA_OIF:
      route.index = attribute.u32();
      break;
    case RTA_PRIORITY:
      route.priority = attribute.u32();
      break;
    case RTA_PREFSRC:
      route.source = attribute.address();
      break;
    case RTA_METRICS:
      readMetrics(route, attribute.nested());
      break;
    case RTA_MULTIPATH:
      route.nextHops = decodeNextHops(attribute.bytes());
      break;
  }
}

function readMetrics(route: Draft<Route>, metric: AttributeDecoder): void {
  while (metric.next()) {
    if (metric.type === RTAX_MTU) route.mtu = metric.u32();
    else if (metric.type === RTAX_ADVMSS) route.advmss = metric.u32();
  }
}

/** `struct rtvia`: a family of two bytes, then the address. */
function decodeVia(attributes: AttributeDecoder): IpAddress {
  const bytes = attributes.bytes().subarray(2);
  if (bytes.length === 4 || bytes.length === 16) return IpAddress.fromBytes(bytes);
  throw new MalformedMessageError(`RTA_VIA with an address of ${bytes.length} bytes`);
}

/** An array of `struct rtnexthop`, each followed by its attributes: RTNH_OK and RTNH_NEXT. */
function decodeNextHops(bytes: Uint8Array): NextHop[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const hops: NextHop[] = [];
  for (let at = 0; at + NEXT_HOP_BYTES <= bytes.length;) {
    const length = view.getUint16(at, true);
    if (length < NEXT_HOP_BYTES || at + length > bytes.length) {
      throw new MalformedMessageError(`next hop claims ${length} of ${bytes.length - at} bytes`);
    }
    const attributes = new AttributeDecoder(view, at + NEXT_HOP_BYTES, at + length);
    let gateway: IpAddress | undefined;
    while (attributes.next()) {
      if (attributes.type === RTA_GATEWAY) gateway = attributes.address();
      else if (attributes.type === RTA_VIA) gateway = decodeVia(attributes);
    }
    hops.push({
      gateway,
      index: view.getInt32(at + 4, true),
      weight: view.getUint8(at + 3) + 1,
      onlink: (view.getUint8(at + 2) & RTNH_F_ONLINK) !== 0,
    });
    at += nlmsgAlign(length);
  }
  return hops;
}
