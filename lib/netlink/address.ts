/** Addresses of links. */

import { type Family, type IpAddress, Prefix } from "../ip/mod.ts";
import type { NetlinkConnection } from "./connection.ts";
import {
  IFA_ADDRESS,
  IFA_BROADCAST,
  IFA_F_DADFAILED,
  IFA_F_NODAD,
  IFA_F_NOPREFIXROUTE,
  IFA_F_TENTATIVE,
  IFA_FLAGS,
  IFA_LABEL,
  IFA_LOCAL,
} from "./constants/if_addr.ts";
import { NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE } from "./constants/netlink.ts";
import { RTM_DELADDR, RTM_GETADDR, RTM_NEWADDR } from "./constants/rtnetlink.ts";
import { MalformedMessageError } from "./errors.ts";
import { toAddressFamily } from "./family.ts";
import type { Message } from "./message.ts";
import { PayloadEncoder } from "./payload_encoder.ts";
import type { Request } from "./request.ts";

/** An address to add to a link, or to delete. */
export interface AddressSpec {
  /** Link index. */
  readonly index: number;
  /** The address with its prefix length; host bits are the address. */
  readonly address: Prefix;
  /** The far end of a point-to-point link. */
  readonly peer?: IpAddress;
  /** `RT_SCOPE_*`; global if absent. */
  readonly scope?: number;
  /** No route for the prefix of the address. */
  readonly noPrefixRoute?: boolean;
  /** IPv6: usable at once, without duplicate address detection (1.5 s). */
  readonly noDad?: boolean;
  /** IPv4: name shown by old tools; must begin with the link's. */
  readonly label?: string;
  /** IPv4 broadcast address; none if absent. */
  readonly broadcast?: IpAddress;
}

/** An address found on a link. */
export interface Address {
  readonly index: number;
  readonly address: Prefix;
  readonly peer: IpAddress | undefined;
  readonly scope: number;
  /** `IFA_F_*` bits. */
  readonly flags: number;
  readonly label: string | undefined;
  readonly broadcast: IpAddress | undefined;
  readonly noPrefixRoute: boolean;
  /** Duplicate address detection is still under way. */
  readonly tentative: boolean;
  /** Another machine has the address. */
  readonly duplicate: boolean;
}

/** `sizeof(struct ifaddrmsg)`. */
const HEADER_BYTES = 8;

/**
 * Fails with `EEXIST` if the link has it. ≈ `ip addr add ADDRESS dev NAME [peer PEER] [scope
 * SCOPE] [noprefixroute] [nodad]`
 */
export function addAddress(spec: AddressSpec): Request {
  return change("add address", spec, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL);
}

/** ≈ `ip addr replace ADDRESS dev NAME …` */
export function replaceAddress(spec: AddressSpec): Request {
  return change("replace address", spec, RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE);
}

/** ≈ `ip addr del ADDRESS dev NAME` */
export function deleteAddress(spec: Pick<AddressSpec, "index" | "address" | "peer">): Request {
  return change("delete address", spec, RTM_DELADDR, 0);
}

/** Which addresses to list; all if empty. The kernel does the filtering. */
export interface AddressFilter {
  readonly family?: Family;
  /** Link index. */
  readonly index?: number;
}

/** ≈ `ip [-4|-6] addr show [dev NAME]` */
export function listAddresses(
  connection: NetlinkConnection,
  filter: AddressFilter = {},
): Address[] {
  const { family, index } = filter;
  const payload = new PayloadEncoder()
    .putU8(toAddressFamily(family)).putU8(0).putU8(0).putU8(0).putU32(index ?? 0).finish();
  const request: Request = {
    operation: "list addresses",
    type: RTM_GETADDR,
    flags: 0,
    payload,
  };
  return connection.dump(request, (message) => {
    const address = decodeAddress(message);
    return index === undefined || address.index === index ? address : undefined;
  });
}

/** The address a `RTM_NEWADDR` or `RTM_DELADDR` describes. */
export function decodeAddress(message: Message): Address {
  const attributes = message.attributes(HEADER_BYTES);
  const { view, start } = message;
  let flags = view.getUint8(start + 2);
  let local: IpAddress | undefined;
  let address: IpAddress | undefined;
  let label: string | undefined;
  let broadcast: IpAddress | undefined;
  while (attributes.next()) {
    switch (attributes.type) {
      case IFA_LOCAL:
        local = attributes.address();
        break;
      case IFA_ADDRESS:
        address = attributes.address();
        break;
      case IFA_LABEL:
        label = attributes.string();
        break;
      case IFA_BROADCAST:
        broadcast = attributes.address();
        break;
      case IFA_FLAGS:
        flags = attributes.u32();
        break;
    }
  }
  // IFA_ADDRESS is the peer where there is one; IFA_LOCAL is then the link's own.
  const own = local ?? address;
  if (own === undefined) throw new MalformedMessageError("address message without an address");
  const peer = address === undefined || address.equals(own) ? undefined : address;
  return {
    index: view.getUint32(start + 4, true),
    address: toPrefix(own, view.getUint8(start + 1)),
    peer,
    scope: view.getUint8(start + 3),
    flags,
    label,
    broadcast,
    noPrefixRoute: (flags & IFA_F_NOPREFIXROUTE) !== 0,
    tentative: (flags & IFA_F_TENTATIVE) !== 0,
    duplicate: (flags & IFA_F_DADFAILED) !== 0,
  };
}

/** Like the constructor, but a length from the kernel is no programming error. */
export function toPrefix(address: IpAddress, length: number): Prefix {
  if (length > address.bits) {
    throw new MalformedMessageError(`prefix length ${length} for an IPv${address.family} address`);
  }
  return new Prefix(address, length);
}

function change(operation: string, spec: AddressSpec, type: number, flags: number): Request {
  const { index, address, peer, label, broadcast } = spec;
  const addressFlags = (spec.noPrefixRoute ? IFA_F_NOPREFIXROUTE : 0) |
    (spec.noDad ? IFA_F_NODAD : 0);
  const encoder = new PayloadEncoder()
    .putU8(toAddressFamily(address.family))
    .putU8(address.length)
    .putU8(addressFlags > 0xff ? 0 : addressFlags)
    .putU8(spec.scope ?? 0)
    .putU32(index)
    .address(IFA_LOCAL, address.address)
    .address(IFA_ADDRESS, peer ?? address.address);
  if (label !== undefined) encoder.string(IFA_LABEL, label);
  if (broadcast !== undefined) encoder.address(IFA_BROADCAST, broadcast);
  // The header has room for eight flags; where there are more, all of them are here.
  if (addressFlags > 0xff) encoder.u32(IFA_FLAGS, addressFlags);
  return {
    operation,
    subject: () => `${address}${peer === undefined ? "" : ` peer ${peer}`} on link ${index}`,
    type,
    flags,
    payload: encoder.finish(),
  };
}
