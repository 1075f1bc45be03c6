/** Network interfaces: read, change, delete. Creating them: `link_create.ts`. */

import {
  IFF_UP,
  IFLA_ADDRESS,
  IFLA_EXT_MASK,
  IFLA_IFALIAS,
  IFLA_IFNAME,
  IFLA_INFO_KIND,
  IFLA_LINKINFO,
  IFLA_MASTER,
  IFLA_MTU,
  IFLA_NET_NS_FD,
  IFLA_TXQLEN,
  RTEXT_FILTER_SKIP_STATS,
} from "./constants/if_link.ts";
import { RTM_DELLINK, RTM_GETLINK, RTM_NEWLINK } from "./constants/rtnetlink.ts";
import type { NetlinkConnection } from "./connection.ts";
import { ERRNO } from "./errno.ts";
import { InvalidRequestError } from "./errors.ts";
import { decodeLink, type Link } from "./link_decode.ts";
import { checkLinkAlias, checkLinkName } from "./link_name.ts";
import { parseMac } from "./mac.ts";
import type { Netns } from "./netns.ts";
import { PayloadEncoder } from "./payload_encoder.ts";
import type { Request } from "./request.ts";

/** A link by number or by name. */
export type LinkReference = { readonly index: number } | { readonly name: string };

/** The request behind {@linkcode getLink}, for batches. ≈ `ip link show dev NAME` */
export function linkRequest(link: LinkReference): Request {
  const encoder = startLink("get link", link).u32(IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
  return {
    operation: "get link",
    subject: () => describeLink(link),
    type: RTM_GETLINK,
    flags: 0,
    payload: encoder.finish(),
  };
}

/**
 * One link. ≈ `ip link show dev NAME`
 *
 * @throws {NetlinkError} `ENODEV` if there is none.
 */
export function getLink(connection: NetlinkConnection, link: LinkReference): Link {
  return decodeLink(connection.query(linkRequest(link)));
}

/** One link, `undefined` if there is none. ≈ `ip link show dev NAME` */
export function findLink(connection: NetlinkConnection, link: LinkReference): Link | undefined {
  const [outcome] = connection.exchange([linkRequest(link)]);
  if (outcome === undefined || outcome.errno === ERRNO.ENODEV) return undefined;
  if (outcome.error !== undefined) throw outcome.error;
  const [reply] = outcome.replies;
  return reply && decodeLink(reply);
}

/** Which links to list; all if empty. The kernel does the filtering. */
export interface LinkFilter {
  /** Such as `"veth"`. */
  readonly kind?: string;
  /** Index of the bridge the links belong to. */
  readonly master?: number;
}

/** All links, or some. ≈ `ip link show [type KIND] [master DEVICE]` */
export function listLinks(connection: NetlinkConnection, filter: LinkFilter = {}): Link[] {
  const { kind, master } = filter;
  const encoder = putLinkHeader(new PayloadEncoder(), { index: 0 });
  encoder.u32(IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
  if (master !== undefined) encoder.u32(IFLA_MASTER, master);
  if (kind !== undefined) {
    encoder.nested(IFLA_LINKINFO, (info) => info.string(IFLA_INFO_KIND, kind));
  }
  const request: Request = {
    operation: "list links",
    type: RTM_GETLINK,
    flags: 0,
    payload: encoder.finish(),
  };
  return connection.dump(request, (message) => {
    const link = decodeLink(message);
    // Without strict checking the kernel ignores filters it does not know.
    if (kind !== undefined && link.kind !== kind) return undefined;
    if (master !== undefined && link.master !== master) return undefined;
    return link;
  });
}

/** What to change about a link, in one message. */
export interface LinkChanges {
  readonly up?: boolean;
  /** New name; some kernels want the link down for that. */
  readonly name?: string;
  readonly mtu?: number;
  /** `aa:bb:cc:dd:ee:ff` */
  readonly mac?: string;
  /** Index of the bridge to join; zero leaves it. */
  readonly master?: number;
  /** Free text shown by `ip link`; empty removes it. */
  readonly alias?: string;
  readonly txQueueLength?: number;
  /** Namespace to move to. */
  readonly netns?: Netns;
}

/**
 * Several changes in one message. ≈ `ip link set dev NAME …`
 *
 * A new name needs the link by index: the message has one place for a name.
 */
export function changeLink(link: LinkReference, changes: LinkChanges): Request {
  return change("change link", link, changes);
}

/** ≈ `ip link set dev NAME up` */
export function setLinkUp(link: LinkReference): Request {
  return change("set link up", link, { up: true });
}

/** ≈ `ip link set dev NAME down` */
export function setLinkDown(link: LinkReference): Request {
  return change("set link down", link, { up: false });
}

/** ≈ `ip link set dev NAME mtu MTU` */
export function setLinkMtu(link: LinkReference, mtu: number): Request {
  return change("set link MTU", link, { mtu });
}

/** ≈ `ip link set dev NAME address MAC` */
export function setLinkMac(link: LinkReference, mac: string): Request {
  return change("set link MAC address", link, { mac });
}

/** Joins a bridge, or leaves it with zero. ≈ `ip link set dev NAME master DEVICE` */
export function setLinkMaster(link: LinkReference, master: number): Request {
  return change("set link master", link, { master });
}

/** ≈ `ip link set dev NAME name NEWNAME` */
export function renameLink(link: { readonly index: number }, name: string): Request {
  return change("rename link", link, { name });
}

/** ≈ `ip link set dev NAME alias TEXT` */
export function setLinkAlias(link: LinkReference, alias: string): Request {
  return change("set link alias", link, { alias });
}

/** Moves a link, renaming it on the way if asked. ≈ `ip link set dev NAME netns NETNS` */
export function moveLink(
  link: { readonly index: number },
  netns: Netns,
  options: { name?: string } = {},
): Request {
  return change("move link", link, { netns, ...options });
}

/** ≈ `ip link del dev NAME` */
export function deleteLink(link: LinkReference): Request {
  return {
    operation: "delete link",
    subject: () => describeLink(link),
    type: RTM_DELLINK,
    flags: 0,
    payload: startLink("delete link", link).finish(),
  };
}

function change(operation: string, link: LinkReference, changes: LinkChanges): Request {
  const { name, up, master, alias, netns } = changes;
  const encoder = startLink(operation, link, up);
  if (name !== undefined) {
    if (!("index" in link)) {
      const reason = "a link is renamed by its index";
      throw new InvalidRequestError({ operation, subject: link.name, reason });
    }
    encoder.string(IFLA_IFNAME, checkLinkName(operation, name));
  }
  putLinkProperties(encoder, changes);
  if (master !== undefined) encoder.u32(IFLA_MASTER, master);
  if (alias !== undefined) encoder.string(IFLA_IFALIAS, checkLinkAlias(operation, alias));
  if (netns !== undefined) encoder.u32(IFLA_NET_NS_FD, netns.fd);
  return {
    operation,
    subject: () => describeLink(link),
    type: RTM_NEWLINK,
    flags: 0,
    payload: encoder.finish(),
  };
}

/**
 * Writes `struct ifinfomsg`: family, padding, type, index, flags and the mask of flags to
 * change.
 */
export function putLinkHeader(
  encoder: PayloadEncoder,
  header: { readonly index: number; readonly up?: boolean | undefined },
): PayloadEncoder {
  const { index, up } = header;
  return encoder.putU32(0).putU32(index).putU32(up ? IFF_UP : 0)
    .putU32(up === undefined ? 0 : IFF_UP);
}

/** Writes what may be set both when a link is made and later. */
export function putLinkProperties(
  encoder: PayloadEncoder,
  link: Pick<LinkChanges, "mtu" | "mac" | "txQueueLength">,
): void {
  if (link.mtu !== undefined) encoder.u32(IFLA_MTU, link.mtu);
  if (link.mac !== undefined) encoder.bytes(IFLA_ADDRESS, parseMac(link.mac));
  if (link.txQueueLength !== undefined) encoder.u32(IFLA_TXQLEN, link.txQueueLength);
}

function startLink(operation: string, link: LinkReference, up?: boolean): PayloadEncoder {
  const encoder = new PayloadEncoder();
  if ("index" in link) return putLinkHeader(encoder, { index: link.index, up });
  // With index zero the kernel looks for the name.
  const name = checkLinkName(operation, link.name);
  return putLinkHeader(encoder, { index: 0, up }).string(IFLA_IFNAME, name);
}

function describeLink(link: LinkReference): string {
  return "index" in link ? `index ${link.index}` : link.name;
}
