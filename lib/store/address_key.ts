/**
 * Addresses as the store orders them: 16 bytes, IPv4 in its IPv4-mapped place
 * (`::ffff:0:0/96`, RFC 4291 section 2.5.5.2). `lib/ip` never makes such an IPv6 address,
 * so the two families cannot meet.
 */

import { IpAddress } from "../ip/address.ts";

const MAPPED = 0xffff_0000_0000n;
const MAPPED_LAST = 0xffff_ffff_ffffn;

/** Where `address` stands in the one order of all addresses. */
export function toPlace(address: IpAddress): bigint {
  return address.family === 4 ? MAPPED + address.value : address.value;
}

/** The address at `place`. */
export function fromPlace(place: bigint): IpAddress {
  return place >= MAPPED && place <= MAPPED_LAST
    ? new IpAddress(4, place - MAPPED)
    : new IpAddress(6, place);
}

/** `place` as the 16 bytes the store keeps. */
export function toKey(place: bigint): Uint8Array<ArrayBuffer> {
  const key = new Uint8Array(16);
  const view = new DataView(key.buffer);
  view.setBigUint64(0, place >> 64n);
  view.setBigUint64(8, BigInt.asUintN(64, place));
  return key;
}

/** The place that `key`, read from the store, stands for. */
export function fromKey(key: unknown): bigint {
  if (!(key instanceof Uint8Array) || key.length !== 16) {
    throw new TypeError("Cannot read an address key: it is not a blob of 16 bytes");
  }
  const view = new DataView(key.buffer, key.byteOffset, 16);
  return view.getBigUint64(0) << 64n | view.getBigUint64(8);
}

/** {@linkcode toKey} of an address. */
export function addressKey(address: IpAddress): Uint8Array<ArrayBuffer> {
  return toKey(toPlace(address));
}

/** The address of a key. */
export function keyAddress(key: unknown): IpAddress {
  return fromPlace(fromKey(key));
}
