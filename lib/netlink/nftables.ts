/**
 * nftables, as far as the plugin needs it on its way: is a table there, and set elements in
 * and out in one atomic step. Rule sets are written by `nft` (lib/firewall).
 */

import type { NetlinkConnection } from "./connection.ts";
import { NFGENMSG_BYTES, putNetfilterHeader } from "./conntrack.ts";
import { NLM_F_CREATE } from "./constants/netlink.ts";
import {
  NFNL_MSG_BATCH_BEGIN,
  NFNL_MSG_BATCH_END,
  NFNL_SUBSYS_NFTABLES,
  NFPROTO_ARP,
  NFPROTO_BRIDGE,
  NFPROTO_INET,
  NFPROTO_IPV4,
  NFPROTO_IPV6,
  NFPROTO_NETDEV,
  NFT_MSG_DELSETELEM,
  NFT_MSG_GETSETELEM,
  NFT_MSG_GETTABLE,
  NFT_MSG_NEWSETELEM,
  NFT_SET_ELEM_INTERVAL_END,
  NFTA_DATA_VALUE,
  NFTA_LIST_ELEM,
  NFTA_SET_ELEM_DATA,
  NFTA_SET_ELEM_FLAGS,
  NFTA_SET_ELEM_KEY,
  NFTA_SET_ELEM_LIST_ELEMENTS,
  NFTA_SET_ELEM_LIST_SET,
  NFTA_SET_ELEM_LIST_TABLE,
  NFTA_SET_ELEM_TIMEOUT,
  NFTA_TABLE_NAME,
} from "./constants/nfnetlink.ts";
import type { AttributeDecoder } from "./attribute_decoder.ts";
import { isErrno } from "./errors.ts";
import { PayloadEncoder } from "./payload_encoder.ts";
import type { Request } from "./request.ts";

const FAMILIES = {
  inet: NFPROTO_INET,
  ip: NFPROTO_IPV4,
  ip6: NFPROTO_IPV6,
  arp: NFPROTO_ARP,
  bridge: NFPROTO_BRIDGE,
  netdev: NFPROTO_NETDEV,
} as const;

/** A table by family and name, as `nft` writes it. */
export interface TableReference {
  readonly family: keyof typeof FAMILIES;
  readonly table: string;
}

/** A set or map of a table. */
export interface SetReference extends TableReference {
  readonly set: string;
}

/** One element of a set or map. */
export interface SetElement {
  /** The key's bytes, in network order; see {@linkcode concatenateKey} for several fields. */
  readonly key: Uint8Array;
  /** The value, for maps of plain data. */
  readonly data?: Uint8Array;
  /** Remove it by itself after this time; the set must allow it. */
  readonly timeoutMs?: number;
  /** This key is the first one *after* an interval. */
  readonly intervalEnd?: boolean;
}

/** Elements in a message stay below the u16 length of the list that holds them. */
const MAX_LIST_BYTES = 32 * 1024;

/** Whether a table exists. ≈ `nft list table FAMILY TABLE` */
export function tableExists(connection: NetlinkConnection, reference: TableReference): boolean {
  const request: Request = {
    operation: "get nftables table",
    subject: describe(reference),
    type: NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETTABLE,
    flags: 0,
    payload: putNetfilterHeader(FAMILIES[reference.family])
      .string(NFTA_TABLE_NAME, reference.table).finish(),
  };
  try {
    connection.query(request);
    return true;
  } catch (error) {
    if (isErrno(error, "ENOENT")) return false;
    throw error;
  }
}

/** Elements already there are fine. ≈ `nft add element FAMILY TABLE SET { KEY, … }` */
export function addSetElements(set: SetReference, elements: readonly SetElement[]): Request[] {
  return change("add set elements", set, elements, NFT_MSG_NEWSETELEM);
}

/** Missing elements are an error. ≈ `nft delete element FAMILY TABLE SET { KEY, … }` */
export function deleteSetElements(set: SetReference, elements: readonly SetElement[]): Request[] {
  return change("delete set elements", set, elements, NFT_MSG_DELSETELEM);
}

/**
 * Carries out `requests` as one transaction: all of them or none. ≈ `nft -f -`
 *
 * @throws {NetlinkError} the first thing the kernel objects to; then nothing has changed.
 */
export function commitNftables(connection: NetlinkConnection, requests: readonly Request[]): void {
  if (requests.length === 0) return;
  const frame = (type: number): Request => ({
    operation: "commit nftables transaction",
    subject: "",
    type,
    flags: 0,
    payload: putNetfilterHeader(0, NFNL_SUBSYS_NFTABLES).finish(),
  });
  connection.transact([
    frame(NFNL_MSG_BATCH_BEGIN),
    ...requests,
    frame(NFNL_MSG_BATCH_END),
  ]);
}

/** All elements of a set. ≈ `nft list set FAMILY TABLE SET` */
export function listSetElements(connection: NetlinkConnection, set: SetReference): SetElement[] {
  const request: Request = {
    operation: "list set elements",
    subject: describe(set),
    type: NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETSETELEM,
    flags: 0,
    payload: putNetfilterHeader(FAMILIES[set.family])
      .string(NFTA_SET_ELEM_LIST_TABLE, set.table)
      .string(NFTA_SET_ELEM_LIST_SET, set.set).finish(),
  };
  return connection.dump(request, (message) => {
    const attributes = message.attributes(NFGENMSG_BYTES);
    const elements: SetElement[] = [];
    while (attributes.next()) {
      if (attributes.type !== NFTA_SET_ELEM_LIST_ELEMENTS) continue;
      const list = attributes.nested();
      while (list.next()) elements.push(decodeElement(list.nested()));
    }
    return elements;
  }).flat();
}

/**
 * The key of a set with several fields, such as `ifname . ipv4_addr`: each field is padded
 * to four bytes.
 *
 * @example
 * ```ts
 * import { concatenateKey } from "./nftables.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const port = Uint8Array.of(0, 80);
 * assertEquals([...concatenateKey(Uint8Array.of(10, 0, 0, 1), port)], [10, 0, 0, 1, 0, 80, 0, 0]);
 * ```
 */
export function concatenateKey(...fields: readonly Uint8Array[]): Uint8Array {
  const encoder = new PayloadEncoder();
  for (const field of fields) {
    encoder.putBytes(field).putBytes(new Uint8Array(-field.length & 3));
  }
  return encoder.finish();
}

function change(
  operation: string,
  set: SetReference,
  elements: readonly SetElement[],
  message: number,
): Request[] {
  const requests: Request[] = [];
  let list = new PayloadEncoder();
  const flush = () => {
    if (list.length === 0) return;
    const bytes = list.finish();
    const encoder = putNetfilterHeader(FAMILIES[set.family])
      .string(NFTA_SET_ELEM_LIST_TABLE, set.table)
      .string(NFTA_SET_ELEM_LIST_SET, set.set)
      .nested(NFTA_SET_ELEM_LIST_ELEMENTS, (elements) => elements.putBytes(bytes));
    requests.push({
      operation,
      subject: describe(set),
      type: NFNL_SUBSYS_NFTABLES << 8 | message,
      flags: message === NFT_MSG_NEWSETELEM ? NLM_F_CREATE : 0,
      payload: encoder.finish(),
    });
    list = new PayloadEncoder();
  };
  for (const element of elements) {
    putElement(list, element);
    if (list.length > MAX_LIST_BYTES) flush();
  }
  flush();
  return requests;
}

function putElement(list: PayloadEncoder, element: SetElement): void {
  const { key, data, timeoutMs, intervalEnd } = element;
  list.nested(NFTA_LIST_ELEM, (encoder) => {
    if (intervalEnd) encoder.be32(NFTA_SET_ELEM_FLAGS, NFT_SET_ELEM_INTERVAL_END);
    if (timeoutMs !== undefined) encoder.be64(NFTA_SET_ELEM_TIMEOUT, BigInt(timeoutMs));
    encoder.nested(NFTA_SET_ELEM_KEY, (value) => value.bytes(NFTA_DATA_VALUE, key));
    if (data !== undefined) {
      encoder.nested(NFTA_SET_ELEM_DATA, (value) => value.bytes(NFTA_DATA_VALUE, data));
    }
  });
}

function decodeElement(attributes: AttributeDecoder): SetElement {
  let key = new Uint8Array();
  let data: Uint8Array | undefined;
  let intervalEnd = false;
  while (attributes.next()) {
    if (attributes.type === NFTA_SET_ELEM_KEY) key = decodeData(attributes.nested()) ?? key;
    else if (attributes.type === NFTA_SET_ELEM_DATA) data = decodeData(attributes.nested());
    else if (attributes.type === NFTA_SET_ELEM_FLAGS) {
      intervalEnd = (attributes.be32() & NFT_SET_ELEM_INTERVAL_END) !== 0;
    }
  }
  return { key, ...(data === undefined ? {} : { data }), ...(intervalEnd ? { intervalEnd } : {}) };
}

function decodeData(value: AttributeDecoder): Uint8Array<ArrayBuffer> | undefined {
  let bytes: Uint8Array<ArrayBuffer> | undefined;
  while (value.next()) {
    if (value.type === NFTA_DATA_VALUE) bytes = value.bytes();
  }
  return bytes;
}

function describe(reference: TableReference | SetReference): string {
  const set = "set" in reference ? ` ${reference.set}` : "";
  return `${reference.family} ${reference.table}${set}`;
}
