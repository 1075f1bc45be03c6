/** Writes routes: `struct rtmsg` and its attributes. */

import type { IpAddress } from "../ip/mod.ts";
import {
  RT_TABLE_UNSPEC,
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
import { toAddressFamily } from "./family.ts";
import { PayloadEncoder } from "./payload_encoder.ts";
import type { NextHopSpec, RouteSpec } from "./route.ts";

/** Fields of `struct rtmsg`. */
export interface RouteHeader {
  readonly family: number;
  readonly destinationLength?: number;
  readonly sourceLength?: number;
  readonly table?: number;
  readonly protocol?: number;
  readonly scope?: number;
  readonly type?: number;
  readonly flags?: number;
  readonly onlink?: boolean;
}

/** `sizeof(struct rtnexthop)`. */
const NEXT_HOP_BYTES = 8;

/** Writes `struct rtmsg`. */
export function putRouteHeader(encoder: PayloadEncoder, header: RouteHeader): PayloadEncoder {
  const table = header.table ?? 0;
  return encoder
    .putU8(header.family)
    .putU8(header.destinationLength ?? 0)
    .putU8(header.sourceLength ?? 0)
    .putU8(0) // type of service
    // A byte is too small for today's table numbers; RTA_TABLE carries the others.
    .putU8(table > 0xff ? RT_TABLE_UNSPEC : table)
    .putU8(header.protocol ?? 0)
    .putU8(header.scope ?? 0)
    .putU8(header.type ?? 0)
    .putU32((header.flags ?? 0) | (header.onlink ? RTNH_F_ONLINK : 0));
}

/** Writes everything a route has beside its header. */
export function putRouteAttributes(encoder: PayloadEncoder, spec: RouteSpec): void {
  const { destination, gateway, index, nextHops, priority, source, table, mtu, advmss } = spec;
  // The default route is a destination of no bits, without the attribute.
  if (destination.length > 0) encoder.address(RTA_DST, destination.network);
  if (gateway !== undefined) putGateway(encoder, gateway, destination.family);
  if (index !== undefined) encoder.u32(RTA_OIF, index);
  if (priority !== undefined) encoder.u32(RTA_PRIORITY, priority);
  if (source !== undefined) encoder.address(RTA_PREFSRC, source);
  if (table !== undefined && table > 0xff) encoder.u32(RTA_TABLE, table);
  if (mtu !== undefined || advmss !== undefined) {
    encoder.nested(RTA_METRICS, (metrics) => {
      if (mtu !== undefined) metrics.u32(RTAX_MTU, mtu);
      if (advmss !== undefined) metrics.u32(RTAX_ADVMSS, advmss);
    }, { plain: true });
  }
  if (nextHops !== undefined) {
    encoder.nested(RTA_MULTIPATH, (encoder) => {
      for (const hop of nextHops) putNextHop(encoder, hop, destination.family);
    }, { plain: true });
  }
}

/** A gateway of the other family travels as `struct rtvia`: its family, then its address. */
function putGateway(encoder: PayloadEncoder, gateway: IpAddress, family: 4 | 6): void {
  if (gateway.family === family) {
    encoder.address(RTA_GATEWAY, gateway);
    return;
  }
  const via = new PayloadEncoder().putU16(toAddressFamily(gateway.family));
  encoder.bytes(RTA_VIA, via.putBytes(gateway.toBytes()).finish());
}

/** Writes `struct rtnexthop`, whose length covers the attributes behind it. */
function putNextHop(encoder: PayloadEncoder, hop: NextHopSpec, family: 4 | 6): void {
  const attributes = new PayloadEncoder();
  if (hop.gateway !== undefined) putGateway(attributes, hop.gateway, family);
  const bytes = attributes.finish();
  encoder
    .putU16(NEXT_HOP_BYTES + bytes.length)
    .putU8(hop.onlink ? RTNH_F_ONLINK : 0)
    .putU8((hop.weight ?? 1) - 1)
    .putU32(hop.index ?? 0)
    .putBytes(bytes);
}
