/**
 * Connection tracking: forget the connections of an address.
 *
 * A flow keeps the translation it began with. When an address changes hands, entries of its
 * former owner must go, or packets of the new one are sent to the old.
 */

import type { IpAddress } from "../ip/mod.ts";
import type { AttributeDecoder } from "./attribute_decoder.ts";
import type { NetlinkConnection } from "./connection.ts";
import {
  CTA_FILTER,
  CTA_FILTER_F_CTA_IP_DST,
  CTA_FILTER_F_CTA_IP_SRC,
  CTA_FILTER_ORIG_FLAGS,
  CTA_FILTER_REPLY_FLAGS,
  CTA_ID,
  CTA_IP_V4_DST,
  CTA_IP_V4_SRC,
  CTA_IP_V6_DST,
  CTA_IP_V6_SRC,
  CTA_PROTO_DST_PORT,
  CTA_PROTO_NUM,
  CTA_PROTO_SRC_PORT,
  CTA_TUPLE_IP,
  CTA_TUPLE_ORIG,
  CTA_TUPLE_PROTO,
  CTA_TUPLE_REPLY,
  CTA_ZONE,
  IPCTNL_MSG_CT_DELETE,
  IPCTNL_MSG_CT_GET,
  NFNETLINK_V0,
  NFNL_SUBSYS_CTNETLINK,
} from "./constants/nfnetlink.ts";
import { toAddressFamily } from "./family.ts";
import type { Message } from "./message.ts";
import { PayloadEncoder } from "./payload_encoder.ts";
import type { Request } from "./request.ts";

/** One direction of a flow. */
export interface FlowTuple {
  readonly source: IpAddress | undefined;
  readonly destination: IpAddress | undefined;
  /** IP protocol number. */
  readonly protocol: number;
  readonly sourcePort: number;
  readonly destinationPort: number;
}

/** A tracked connection. */
export interface Flow {
  readonly original: FlowTuple;
  readonly reply: FlowTuple;
  /** What identifies the flow to the kernel: attributes to send back to delete it. */
  readonly identity: Uint8Array;
}

/** `sizeof(struct nfgenmsg)`: family, version, resource. */
export const NFGENMSG_BYTES = 4;

/** All flows of a family. ≈ `conntrack -L -f ipv4` */
export function listFlows(connection: NetlinkConnection, family: 4 | 6): Flow[] {
  const request: Request = {
    operation: "list connections",
    type: NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_GET,
    flags: 0,
    payload: putNetfilterHeader(toAddressFamily(family)).finish(),
  };
  return connection.dump(request, decodeFlow);
}

/**
 * Deletes every flow that `address` is an end of, in either direction. ≈ `conntrack -D -s
 * ADDRESS; conntrack -D -d ADDRESS; conntrack -D -r ADDRESS; conntrack -D -q ADDRESS`
 *
 * Listing all flows takes milliseconds even if there are none: the kernel locks every bucket of
 * its table. So it is asked to pick those of an IPv4 address itself. One that cannot (`CTA_FILTER`
 * of a deletion is younger than that of a list) misses the rest of the tuple and says EINVAL.
 * Flows of an IPv6 address are listed on every kernel: the comparison in
 * `ctnetlink_filter_match_tuple` is the wrong way round there, seen up to Linux 6.18, and the
 * flows of all other addresses would be deleted.
 *
 * @param connection one of protocol `NETLINK_NETFILTER`.
 */
export function deleteFlows(connection: NetlinkConnection, address: IpAddress): void {
  if (address.family === 4 && deletePicked(connection, address)) return;
  deleteFlowsWhere(connection, address.family, (flow) => touches(flow, address));
}

/** Whether the kernel could pick the flows by itself. */
function deletePicked(connection: NetlinkConnection, address: IpAddress): boolean {
  for (const { error } of connection.exchange(ENDS.map((end) => deleteFlowsOf(address, end)))) {
    if (error === undefined || error.code === "ENOENT") continue;
    if (error.code === "EINVAL") return false;
    throw error;
  }
  return true;
}

/** Where an address can stand in a flow. */
const ENDS = [
  { tuple: CTA_TUPLE_ORIG, part: CTA_IP_V4_SRC, flag: CTA_FILTER_F_CTA_IP_SRC },
  { tuple: CTA_TUPLE_ORIG, part: CTA_IP_V4_DST, flag: CTA_FILTER_F_CTA_IP_DST },
  { tuple: CTA_TUPLE_REPLY, part: CTA_IP_V4_SRC, flag: CTA_FILTER_F_CTA_IP_SRC },
  { tuple: CTA_TUPLE_REPLY, part: CTA_IP_V4_DST, flag: CTA_FILTER_F_CTA_IP_DST },
] as const;

function deleteFlowsOf(address: IpAddress, { tuple, part, flag }: (typeof ENDS)[number]): Request {
  const flags = tuple === CTA_TUPLE_ORIG ? CTA_FILTER_ORIG_FLAGS : CTA_FILTER_REPLY_FLAGS;
  return {
    operation: "delete connections",
    subject: () => `of ${address}`,
    type: NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_DELETE,
    flags: 0,
    // The tuple is there in any case: without one, an old kernel would delete all flows.
    payload: putNetfilterHeader(toAddressFamily(address.family))
      .nested(tuple, (parts) => parts.nested(CTA_TUPLE_IP, (ip) => ip.address(part, address)))
      .nested(CTA_FILTER, (filter) => filter.u32(flags, flag))
      .finish(),
  };
}

/**
 * Deletes the flows of a family that `matches` picks.
 *
 * @param connection one of protocol `NETLINK_NETFILTER`.
 * @returns how many were deleted.
 */
export function deleteFlowsWhere(
  connection: NetlinkConnection,
  family: 4 | 6,
  matches: (flow: Flow) => boolean,
): number {
  const requests = listFlows(connection, family).filter(matches)
    .map((flow) => deleteFlow(flow, family));
  let deleted = 0;
  for (const { error } of connection.exchange(requests)) {
    // ENOENT: it ended by itself since it was listed.
    if (error === undefined) deleted++;
    else if (error.code !== "ENOENT") throw error;
  }
  return deleted;
}

/** Writes `struct nfgenmsg`. */
export function putNetfilterHeader(family: number, resource = 0): PayloadEncoder {
  return new PayloadEncoder().putU8(family).putU8(NFNETLINK_V0).putBe16(resource);
}

/** The flow a message describes. */
export function decodeFlow(message: Message): Flow {
  const attributes = message.attributes(NFGENMSG_BYTES);
  let original = NO_TUPLE;
  let reply = NO_TUPLE;
  const identity = new PayloadEncoder();
  while (attributes.next()) {
    switch (attributes.type) {
      case CTA_TUPLE_ORIG: {
        const bytes = attributes.bytes();
        identity.nested(CTA_TUPLE_ORIG, (tuple) => tuple.putBytes(bytes));
        original = decodeTuple(attributes.nested());
        break;
      }
      case CTA_TUPLE_REPLY:
        reply = decodeTuple(attributes.nested());
        break;
      // The id tells a flow from a later one between the same ends.
      case CTA_ID:
      case CTA_ZONE:
        identity.bytes(attributes.type, attributes.bytes());
        break;
    }
  }
  return { original, reply, identity: identity.finish() };
}

const NO_TUPLE: FlowTuple = {
  source: undefined,
  destination: undefined,
  protocol: 0,
  sourcePort: 0,
  destinationPort: 0,
};

function touches({ original, reply }: Flow, address: IpAddress): boolean {
  return [original.source, original.destination, reply.source, reply.destination]
    .some((end) => end?.equals(address));
}

function deleteFlow({ original, identity }: Flow, family: 4 | 6): Request {
  return {
    operation: "delete connection",
    subject: () => `from ${original.source} to ${original.destination}`,
    type: NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_DELETE,
    flags: 0,
    payload: putNetfilterHeader(toAddressFamily(family)).putBytes(identity).finish(),
  };
}

function decodeTuple(tuple: AttributeDecoder): FlowTuple {
  let source: IpAddress | undefined;
  let destination: IpAddress | undefined;
  const ports = { protocol: 0, sourcePort: 0, destinationPort: 0 };
  while (tuple.next()) {
    const inner = tuple.nested();
    while (inner.next()) {
      if (tuple.type === CTA_TUPLE_IP) {
        if (inner.type === CTA_IP_V4_SRC || inner.type === CTA_IP_V6_SRC) source = inner.address();
        if (inner.type === CTA_IP_V4_DST || inner.type === CTA_IP_V6_DST) {
          destination = inner.address();
        }
      } else if (tuple.type === CTA_TUPLE_PROTO) {
        if (inner.type === CTA_PROTO_NUM) ports.protocol = inner.u8();
        if (inner.type === CTA_PROTO_SRC_PORT) ports.sourcePort = inner.be16();
        if (inner.type === CTA_PROTO_DST_PORT) ports.destinationPort = inner.be16();
      }
    }
  }
  return { source, destination, ...ports };
}
