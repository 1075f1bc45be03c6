/**
 * nftables, as far as the plugin needs it on its way: is a table there, and set elements in
 * and out in one atomic step. Rule sets are written by `nft` (lib/firewall).
 */

import type { NetlinkConnection } from "./connection.ts";
import { putNetfilterHeader } from "./conntrack.ts";
import { NLM_F_CREATE, NLM_F_EXCL } from "./constants/netlink.ts";
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
  NFTA_SET_ELEM_LIST_ELEMENTS,
  NFTA_SET_ELEM_LIST_SET,
  NFTA_SET_ELEM_LIST_TABLE,
  NFTA_TABLE_NAME,
} from "./constants/nfnetlink.ts";
import { isErrno } from "./errors.ts";
import { decodeSetElements, putElement, type SetElement } from "./nftables_element.ts";
import { PayloadEncoder } from "./payload_encoder.ts";
import type { Request } from "./request.ts";

export { decodeSetElements, type SetElement };

/** Families of tables as `nft` writes them, and their numbers. */
export const FAMILIES = {
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

/** Elements in a message stay below the u16 length of the list that holds them. */
const MAX_LIST_BYTES = 32 * 1024;

/** Whether a table exists. ≈ `nft list table FAMILY TABLE` */
export function tableExists(connection: NetlinkConnection, reference: TableReference): boolean {
  const request: Request = {
    operation: "get nftables table",
    subject: () => describe(reference),
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

/**
 * Elements already there are fine, unless they map to something else.
 * ≈ `nft add element FAMILY TABLE SET { KEY, … }`
 */
export function addSetElements(set: SetReference, elements: readonly SetElement[]): Request[] {
  return change("add set elements", set, elements, NFT_MSG_NEWSETELEM);
}

/** Elements already there are an error. ≈ `nft create element FAMILY TABLE SET { KEY, … }` */
export function createSetElements(set: SetReference, elements: readonly SetElement[]): Request[] {
  return change("create set elements", set, elements, NFT_MSG_NEWSETELEM, NLM_F_EXCL);
}

/** Missing elements are an error. ≈ `nft delete element FAMILY TABLE SET { KEY, … }` */
export function deleteSetElements(set: SetReference, elements: readonly SetElement[]): Request[] {
  return change("delete set elements", set, elements, NFT_MSG_DELSETELEM);
}

/** Removes every element. ≈ `nft flush set FAMILY TABLE SET` */
export function flushSet(set: SetReference): Request {
  return {
    operation: "flush set",
    subject: () => describe(set),
    type: NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_DELSETELEM,
    flags: 0,
    payload: putSet(set).finish(),
  };
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
    subject: () => describe(set),
    type: NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETSETELEM,
    flags: 0,
    payload: putSet(set).finish(),
  };
  return connection.dump(request, decodeSetElements).flat();
}

/** One element of one set. */
export interface ElementReference extends SetReference {
  readonly key: Uint8Array;
}

/**
 * The elements with these keys, `undefined` where there is none (or no such set). One send,
 * whatever the size of the sets. ≈ `nft get element FAMILY TABLE SET { KEY }`
 */
export function getSetElements(
  connection: NetlinkConnection,
  references: readonly ElementReference[],
): (SetElement | undefined)[] {
  const requests = references.flatMap((reference) => {
    return change("get set element", reference, [{ key: reference.key }], NFT_MSG_GETSETELEM);
  });
  return connection.exchange(requests).map(({ replies, error }) => {
    if (error !== undefined && error.code !== "ENOENT") throw error;
    return error === undefined ? replies.flatMap(decodeSetElements)[0] : undefined;
  });
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
  flags = 0,
): Request[] {
  const requests: Request[] = [];
  let list = new PayloadEncoder();
  const flush = () => {
    if (list.length === 0) return;
    const bytes = list.finish();
    const encoder = putSet(set)
      .nested(NFTA_SET_ELEM_LIST_ELEMENTS, (elements) => elements.putBytes(bytes));
    requests.push({
      operation,
      subject: () => describe(set),
      type: NFNL_SUBSYS_NFTABLES << 8 | message,
      flags: flags | (message === NFT_MSG_NEWSETELEM ? NLM_F_CREATE : 0),
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

function putSet(set: SetReference): PayloadEncoder {
  return putNetfilterHeader(FAMILIES[set.family])
    .string(NFTA_SET_ELEM_LIST_TABLE, set.table)
    .string(NFTA_SET_ELEM_LIST_SET, set.set);
}

function describe(reference: TableReference | SetReference): string {
  const set = "set" in reference ? ` ${reference.set}` : "";
  return `${reference.family} ${reference.table}${set}`;
}
