/** Reads a link out of `RTM_NEWLINK` and `RTM_DELLINK`. */

import type { AttributeDecoder, Draft } from "./attribute_decoder.ts";
import {
  IFF_UP,
  IFLA_ADDRESS,
  IFLA_IFALIAS,
  IFLA_IFNAME,
  IFLA_INFO_KIND,
  IFLA_LINK,
  IFLA_LINK_NETNSID,
  IFLA_LINKINFO,
  IFLA_MASTER,
  IFLA_MTU,
  IFLA_OPERSTATE,
  IFLA_TXQLEN,
  OPER_STATES,
} from "./constants/if_link.ts";
import { formatMac } from "./mac.ts";
import type { Message } from "./message.ts";

/** A network interface. */
export interface Link {
  readonly index: number;
  readonly name: string;
  /** `"veth"`, `"bridge"`, …; `undefined` for hardware and loopback. */
  readonly kind: string | undefined;
  /** `ARPHRD_*`. */
  readonly hardwareType: number;
  /** `IFF_*` bits. */
  readonly flags: number;
  /** Administratively up: `IFF_UP`. */
  readonly up: boolean;
  readonly mtu: number;
  /** `aa:bb:cc:dd:ee:ff`; `undefined` for links without one. */
  readonly mac: string | undefined;
  /** Index of the bridge it belongs to. */
  readonly master: number | undefined;
  /** Index of the link below, or of a veth's peer. */
  readonly parent: number | undefined;
  /** The id, in this namespace, of the namespace {@linkcode parent} is in, if not this one. */
  readonly parentNetnsId: number | undefined;
  /** RFC 2863 state, such as `"up"` or `"lowerlayerdown"`. */
  readonly operState: string;
  readonly alias: string | undefined;
  readonly txQueueLength: number;
}

/** `sizeof(struct ifinfomsg)`. */
const HEADER_BYTES = 16;

/** The link a message describes. */
export function decodeLink(message: Message): Link {
  const attributes = message.attributes(HEADER_BYTES);
  const { view, start } = message;
  const flags = view.getUint32(start + 8, true);
  const link: Draft<Link> = {
    index: view.getInt32(start + 4, true),
    name: "",
    kind: undefined,
    hardwareType: view.getUint16(start + 2, true),
    flags,
    up: (flags & IFF_UP) !== 0,
    mtu: 0,
    mac: undefined,
    master: undefined,
    parent: undefined,
    parentNetnsId: undefined,
    operState: "unknown",
    alias: undefined,
    txQueueLength: 0,
  };
  while (attributes.next()) readAttribute(link, attributes);
  return link;
}

function readAttribute(link: Draft<Link>, attribute: AttributeDecoder): void {
  switch (attribute.type) {
    case IFLA_IFNAME:
      link.name = attribute.string();
      break;
    case IFLA_MTU:
      link.mtu = attribute.u32();
      break;
    case IFLA_ADDRESS:
      if (attribute.length > 0) link.mac = formatMac(attribute.bytes());
      break;
    case IFLA_MASTER:
      link.master = attribute.u32();
      break;
    case IFLA_LINK:
      link.parent = attribute.u32();
      break;
    case IFLA_LINK_NETNSID:
      link.parentNetnsId = attribute.i32();
      break;
    case IFLA_OPERSTATE:
      link.operState = OPER_STATES[attribute.u8()] ?? "unknown";
      break;
    case IFLA_IFALIAS:
      link.alias = attribute.string();
      break;
    case IFLA_TXQLEN:
      link.txQueueLength = attribute.u32();
      break;
    case IFLA_LINKINFO:
      link.kind = decodeKind(attribute.nested());
      break;
  }
}

function decodeKind(info: AttributeDecoder): string | undefined {
  let kind: string | undefined;
  while (info.next()) {
    if (info.type === IFLA_INFO_KIND) kind = info.string();
  }
  return kind;
}
