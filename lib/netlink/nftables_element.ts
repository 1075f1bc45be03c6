/** One element of an nftables set or map: `enum nft_set_elem_attributes` to bytes and back. */

import { type AttributeDecoder, decodeText } from "./attribute_decoder.ts";
import { NFGENMSG_BYTES } from "./conntrack.ts";
import {
  NFT_SET_ELEM_INTERVAL_END,
  NFTA_DATA_VALUE,
  NFTA_LIST_ELEM,
  NFTA_SET_ELEM_DATA,
  NFTA_SET_ELEM_FLAGS,
  NFTA_SET_ELEM_KEY,
  NFTA_SET_ELEM_LIST_ELEMENTS,
  NFTA_SET_ELEM_TIMEOUT,
  NFTA_SET_ELEM_USERDATA,
  NFTNL_UDATA_SET_ELEM_COMMENT,
} from "./constants/nfnetlink.ts";
import type { Message } from "./message.ts";
import type { PayloadEncoder } from "./payload_encoder.ts";

/** One element of a set or map. */
export interface SetElement {
  /** The key's bytes, in network order; see `concatenateKey` for several fields. */
  readonly key: Uint8Array;
  /** The value, for maps of plain data. */
  readonly data?: Uint8Array;
  /** Remove it by itself after this time; the set must allow it. */
  readonly timeoutMs?: number;
  /** This key is the first one *after* an interval. */
  readonly intervalEnd?: boolean;
  /** Shown by `nft list`; the kernel keeps it and does not look inside. At most 128 bytes. */
  readonly comment?: string;
}

/** Writes one element as a member of a list. */
export function putElement(list: PayloadEncoder, element: SetElement): void {
  const { key, data, timeoutMs, intervalEnd, comment } = element;
  list.nested(NFTA_LIST_ELEM, (encoder) => {
    if (intervalEnd) encoder.be32(NFTA_SET_ELEM_FLAGS, NFT_SET_ELEM_INTERVAL_END);
    if (timeoutMs !== undefined) encoder.be64(NFTA_SET_ELEM_TIMEOUT, BigInt(timeoutMs));
    encoder.nested(NFTA_SET_ELEM_KEY, (value) => value.bytes(NFTA_DATA_VALUE, key));
    if (data !== undefined) {
      encoder.nested(NFTA_SET_ELEM_DATA, (value) => value.bytes(NFTA_DATA_VALUE, data));
    }
    if (comment !== undefined) encoder.bytes(NFTA_SET_ELEM_USERDATA, encodeComment(comment));
  });
}

/** `struct nftnl_udata` of libnftnl: type, length, text with its final NUL. */
function encodeComment(comment: string): Uint8Array {
  const text = new TextEncoder().encode(`${comment}\0`);
  return Uint8Array.of(NFTNL_UDATA_SET_ELEM_COMMENT, text.length, ...text);
}

function decodeComment(userdata: Uint8Array): string | undefined {
  const [type, length = 0] = userdata;
  if (type !== NFTNL_UDATA_SET_ELEM_COMMENT || length === 0) return undefined;
  return decodeText(userdata.subarray(2, 1 + length));
}

/** The elements a message lists. */
export function decodeSetElements(message: Message): SetElement[] {
  const attributes = message.attributes(NFGENMSG_BYTES);
  const elements: SetElement[] = [];
  while (attributes.next()) {
    if (attributes.type !== NFTA_SET_ELEM_LIST_ELEMENTS) continue;
    const list = attributes.nested();
    while (list.next()) elements.push(decodeElement(list.nested()));
  }
  return elements;
}

function decodeElement(attributes: AttributeDecoder): SetElement {
  let key = new Uint8Array();
  let data: Uint8Array | undefined;
  let comment: string | undefined;
  let intervalEnd = false;
  while (attributes.next()) {
    if (attributes.type === NFTA_SET_ELEM_KEY) key = decodeData(attributes.nested()) ?? key;
    else if (attributes.type === NFTA_SET_ELEM_DATA) data = decodeData(attributes.nested());
    else if (attributes.type === NFTA_SET_ELEM_FLAGS) {
      intervalEnd = (attributes.be32() & NFT_SET_ELEM_INTERVAL_END) !== 0;
    } else if (attributes.type === NFTA_SET_ELEM_USERDATA) {
      comment = decodeComment(attributes.bytes());
    }
  }
  return {
    key,
    ...(data === undefined ? {} : { data }),
    ...(intervalEnd ? { intervalEnd } : {}),
    ...(comment === undefined ? {} : { comment }),
  };
}

function decodeData(value: AttributeDecoder): Uint8Array<ArrayBuffer> | undefined {
  let bytes: Uint8Array<ArrayBuffer> | undefined;
  while (value.next()) {
    if (value.type === NFTA_DATA_VALUE) bytes = value.bytes();
  }
  return bytes;
}
