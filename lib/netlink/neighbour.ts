/** Neighbours: ARP and neighbour discovery entries, permanent or learnt. */

import type { Family, IpAddress } from "../ip/mod.ts";
import type { NetlinkConnection } from "./connection.ts";
import {
  NDA_DST,
  NDA_IFINDEX,
  NDA_LLADDR,
  NTF_PROXY,
  NUD_PERMANENT,
} from "./constants/neighbour.ts";
import { NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE } from "./constants/netlink.ts";
import { RTM_DELNEIGH, RTM_GETNEIGH, RTM_NEWNEIGH } from "./constants/rtnetlink.ts";
import { toAddressFamily, toFamily } from "./family.ts";
import { formatMac, parseMac } from "./mac.ts";
import type { Message } from "./message.ts";
import { PayloadEncoder } from "./payload_encoder.ts";
import type { Request } from "./request.ts";

/** A neighbour to add or delete. */
export interface NeighbourSpec {
  /** Link index. */
  readonly index: number;
  readonly address: IpAddress;
  /** `aa:bb:cc:dd:ee:ff` */
  readonly mac?: string;
  /** `NUD_*`. @default {128} permanent */
  readonly state?: number;
  /** Answer for the address on this link instead of knowing who has it. */
  readonly proxy?: boolean;
}

/** A neighbour found in the kernel. */
export interface Neighbour {
  readonly index: number;
  readonly address: IpAddress;
  readonly mac: string | undefined;
  /** `NUD_*` bits. */
  readonly state: number;
  readonly proxy: boolean;
}

/** `sizeof(struct ndmsg)`. */
const HEADER_BYTES = 12;

/** Fails with `EEXIST` if there is one. ≈ `ip neigh add ADDRESS lladdr MAC dev NAME` */
export function addNeighbour(spec: NeighbourSpec): Request {
  return change("add neighbour", spec, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_EXCL);
}

/** ≈ `ip neigh replace ADDRESS lladdr MAC dev NAME` */
export function replaceNeighbour(spec: NeighbourSpec): Request {
  return change("replace neighbour", spec, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE);
}

/** ≈ `ip neigh del ADDRESS dev NAME` */
export function deleteNeighbour(spec: Pick<NeighbourSpec, "index" | "address" | "proxy">): Request {
  return change("delete neighbour", spec, RTM_DELNEIGH, 0);
}

/** Which neighbours to list. The kernel does the filtering. */
export interface NeighbourFilter {
  readonly family?: Family;
  /** Link index. */
  readonly index?: number;
  /** Proxy entries instead of real neighbours. */
  readonly proxy?: boolean;
}

/** ≈ `ip [-4|-6] neigh show [proxy] [dev NAME]` */
export function listNeighbours(
  connection: NetlinkConnection,
  filter: NeighbourFilter = {},
): Neighbour[] {
  const { family, index, proxy = false } = filter;
  const encoder = putHeader({ family: toAddressFamily(family), flags: proxy ? NTF_PROXY : 0 });
  if (index !== undefined) encoder.u32(NDA_IFINDEX, index);
  const request: Request = {
    operation: "list neighbours",
    type: RTM_GETNEIGH,
    flags: 0,
    payload: encoder.finish(),
  };
  return connection.dump(request, (message) => {
    const neighbour = decodeNeighbour(message);
    if (index !== undefined && neighbour?.index !== index) return undefined;
    return neighbour;
  });
}

/** The neighbour a message describes; `undefined` for bridge forwarding entries. */
export function decodeNeighbour(message: Message): Neighbour | undefined {
  const attributes = message.attributes(HEADER_BYTES);
  const { view, start } = message;
  if (toFamily(view.getUint8(start)) === undefined) return undefined;
  let address: IpAddress | undefined;
  let mac: string | undefined;
  while (attributes.next()) {
    if (attributes.type === NDA_DST) address = attributes.address();
    else if (attributes.type === NDA_LLADDR) mac = formatMac(attributes.bytes());
  }
  if (address === undefined) return undefined;
  return {
    index: view.getInt32(start + 4, true),
    address,
    mac,
    state: view.getUint16(start + 8, true),
    proxy: (view.getUint8(start + 10) & NTF_PROXY) !== 0,
  };
}

/** Writes `struct ndmsg`. */
function putHeader(header: {
  readonly family: number;
  readonly index?: number;
  readonly state?: number;
  readonly flags: number;
}): PayloadEncoder {
  return new PayloadEncoder()
    .putU32(header.family)
    .putU32(header.index ?? 0)
    .putU16(header.state ?? 0)
    .putU8(header.flags)
    .putU8(0);
}

function change(operation: string, spec: NeighbourSpec, type: number, flags: number): Request {
  const { index, address, mac, proxy = false } = spec;
  const encoder = putHeader({
    family: toAddressFamily(address.family),
    index,
    state: proxy || type === RTM_DELNEIGH ? 0 : spec.state ?? NUD_PERMANENT,
    flags: proxy ? NTF_PROXY : 0,
  }).address(NDA_DST, address);
  if (mac !== undefined) encoder.bytes(NDA_LLADDR, parseMac(mac));
  const subject = () => `${proxy ? "proxy " : ""}${address} on link ${index}`;
  return { operation, subject, type, flags, payload: encoder.finish() };
}
