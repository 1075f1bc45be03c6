/** New network interfaces. */

import {
  IFLA_BR_FORWARD_DELAY,
  IFLA_BR_STP_STATE,
  IFLA_BR_VLAN_FILTERING,
  IFLA_IFNAME,
  IFLA_INFO_DATA,
  IFLA_INFO_KIND,
  IFLA_LINKINFO,
  IFLA_NET_NS_FD,
  VETH_INFO_PEER,
} from "./constants/if_link.ts";
import { NLM_F_CREATE, NLM_F_EXCL } from "./constants/netlink.ts";
import { RTM_NEWLINK } from "./constants/rtnetlink.ts";
import { type LinkChanges, putLinkHeader, putLinkProperties } from "./link.ts";
import { checkLinkName } from "./link_name.ts";
import type { Netns } from "./netns.ts";
import { PayloadEncoder } from "./payload_encoder.ts";
import type { Request } from "./request.ts";

/** What every new link may say about itself. */
export interface LinkSpec extends Pick<LinkChanges, "mtu" | "mac" | "txQueueLength"> {
  readonly name: string;
  /** Namespace it is made in, if not the connection's. */
  readonly netns?: Netns;
}

/** A pair of veth links. */
export interface VethSpec extends LinkSpec {
  /** The other end. With a `netns` it never shows up in this one, under any name. */
  readonly peer: LinkSpec;
}

/**
 * Creates both ends of a veth in one message. ≈ `ip link add NAME type veth peer name PEER
 * netns NETNS`
 *
 * Set them up in a later message: the kernel refuses `IFF_UP` on an end whose peer does not
 * exist yet.
 */
export function createVeth(spec: VethSpec): Request {
  const { peer } = spec;
  return createLink("veth", spec, {
    subject: () => `${spec.name} peer ${peer.name}`,
    // The peer is a whole message of its own: a header, then attributes.
    data: (data) =>
      data.nested(VETH_INFO_PEER, (encoder) => {
        putLinkHeader(encoder, { index: 0 });
        putSpec(encoder, peer, "create veth");
      }, { plain: true }),
  });
}

/** A bridge. */
export interface BridgeSpec extends LinkSpec {
  readonly vlanFiltering?: boolean;
  readonly spanningTree?: boolean;
  /** Time a port spends listening and learning. */
  readonly forwardDelayMs?: number;
}

/** ≈ `ip link add NAME type bridge` */
export function createBridge(spec: BridgeSpec): Request {
  const { vlanFiltering, spanningTree, forwardDelayMs } = spec;
  return createLink("bridge", spec, {
    data: (data) => {
      // The kernel counts in hundredths of a second (USER_HZ).
      if (forwardDelayMs !== undefined) data.u32(IFLA_BR_FORWARD_DELAY, forwardDelayMs / 10);
      if (spanningTree !== undefined) data.u32(IFLA_BR_STP_STATE, Number(spanningTree));
      if (vlanFiltering !== undefined) data.u8(IFLA_BR_VLAN_FILTERING, Number(vlanFiltering));
    },
  });
}

/** An intermediate functional block: shapes what arrives. ≈ `ip link add NAME type ifb` */
export function createIfb(spec: LinkSpec): Request {
  return createLink("ifb", spec);
}

/** A link of any kind. ≈ `ip link add NAME type KIND` */
export function createLink(
  kind: string,
  spec: LinkSpec,
  options: { subject?: () => string; data?: (encoder: PayloadEncoder) => void } = {},
): Request {
  const { data, subject = () => spec.name } = options;
  const operation = `create ${kind}`;
  const encoder = putLinkHeader(new PayloadEncoder(), { index: 0 });
  putSpec(encoder, spec, operation);
  encoder.nested(IFLA_LINKINFO, (info) => {
    info.string(IFLA_INFO_KIND, kind);
    if (data !== undefined) info.nested(IFLA_INFO_DATA, data);
  });
  return {
    operation,
    subject,
    type: RTM_NEWLINK,
    flags: NLM_F_CREATE | NLM_F_EXCL,
    payload: encoder.finish(),
  };
}

function putSpec(encoder: PayloadEncoder, spec: LinkSpec, operation: string): void {
  encoder.string(IFLA_IFNAME, checkLinkName(operation, spec.name));
  putLinkProperties(encoder, spec);
  if (spec.netns !== undefined) encoder.u32(IFLA_NET_NS_FD, spec.netns.fd);
}
