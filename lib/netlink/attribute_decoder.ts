/** Reads netlink attributes: `struct nlattr` in `linux/netlink.h`. */

import { IpAddress } from "../ip/mod.ts";
import { nlaAlign } from "./align.ts";
import { NLA_HDRLEN, NLA_TYPE_MASK } from "./constants/netlink.ts";
import { MalformedMessageError } from "./errors.ts";

/** Netlink speaks host byte order; Deno runs on little-endian machines only. */
const LITTLE_ENDIAN = true;

/**
 * A cursor over the attributes of a message.
 *
 * ```
 *  <------- nla_len -------->
 * +---------+----------+-----+---------+--
 * | nla_len | nla_type | … payload … pad | next
 * +---------+----------+-----+---------+--
 * ```
 *
 * Every length is checked before use: against the region the attribute lies in, and
 * against the size its reader expects. Nothing is copied until a value is read.
 *
 * @example
 * ```ts
 * import { AttributeDecoder } from "./attribute_decoder.ts";
 * import { assertEquals } from "@std/assert";
 *
 * // IFLA_MTU (4) = 1500
 * const attributes = AttributeDecoder.of(Uint8Array.of(8, 0, 4, 0, 0xdc, 5, 0, 0));
 * let mtu = 0;
 * while (attributes.next()) {
 *   if (attributes.type === 4) mtu = attributes.u32();
 * }
 * assertEquals(mtu, 1500);
 * ```
 */
export class AttributeDecoder {
  /** Type of the current attribute, without the nested and byte-order bits. */
  type = 0;
  #start = 0;
  #length = 0;
  #next: number;
  readonly #view: DataView;
  readonly #end: number;

  /** Attributes in bytes `start` to `end` of `view`; the caller vouches for both. */
  constructor(view: DataView, start: number, end: number) {
    this.#view = view;
    this.#next = start;
    this.#end = end;
  }

  /** Attributes that fill `bytes`. */
  static of(bytes: Uint8Array): AttributeDecoder {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return new AttributeDecoder(view, 0, bytes.byteLength);
  }

  /**
   * Moves to the next attribute; `false` when there is none.
   *
   * Fewer bytes than a header at the end are padding, as `RTA_OK` of
   * `linux/rtnetlink.h` has it.
   */
  next(): boolean {
    const at = this.#next;
    if (at + NLA_HDRLEN > this.#end) return false;
    const length = this.#view.getUint16(at, LITTLE_ENDIAN);
    if (length < NLA_HDRLEN || at + length > this.#end) {
      throw new MalformedMessageError(
        `attribute claims ${length} bytes where ${this.#end - at} are left`,
      );
    }
    this.type = this.#view.getUint16(at + 2, LITTLE_ENDIAN) & NLA_TYPE_MASK;
    this.#start = at + NLA_HDRLEN;
    this.#length = length - NLA_HDRLEN;
    // Always moves on: length is at least NLA_HDRLEN.
    this.#next = at + nlaAlign(length);
    return true;
  }

  /** Payload bytes of the current attribute. */
  get length(): number {
    return this.#length;
  }

  u8(): number {
    this.#expect(1);
    return this.#view.getUint8(this.#start);
  }

  u16(): number {
    this.#expect(2);
    return this.#view.getUint16(this.#start, LITTLE_ENDIAN);
  }

  u32(): number {
    this.#expect(4);
    return this.#view.getUint32(this.#start, LITTLE_ENDIAN);
  }

  i32(): number {
    this.#expect(4);
    return this.#view.getInt32(this.#start, LITTLE_ENDIAN);
  }

  u64(): bigint {
    this.#expect(8);
    return this.#view.getBigUint64(this.#start, LITTLE_ENDIAN);
  }

  /** Network byte order, as netfilter has it. */
  be16(): number {
    this.#expect(2);
    return this.#view.getUint16(this.#start);
  }

  /** Network byte order, as netfilter has it. */
  be32(): number {
    this.#expect(4);
    return this.#view.getUint32(this.#start);
  }

  /** Text up to the first NUL, or to the end when there is none. */
  string(): string {
    const end = this.#start + this.#length;
    let text = "";
    for (let at = this.#start; at < end; at++) {
      const byte = this.#view.getUint8(at);
      if (byte === 0) return text;
      // Names are ASCII nearly always; the decoder object costs more than the loop.
      if (byte >= 0x80) return this.#utf8();
      text += String.fromCharCode(byte);
    }
    return text;
  }

  /** A copy of the payload: the receive buffer is used again. */
  bytes(): Uint8Array<ArrayBuffer> {
    const offset = this.#view.byteOffset + this.#start;
    return new Uint8Array(this.#view.buffer, offset, this.#length).slice();
  }

  /** An address of 4 or 16 bytes. */
  address(): IpAddress {
    const view = this.#view;
    switch (this.#length) {
      case 4:
        return new IpAddress(4, BigInt(view.getUint32(this.#start)));
      case 16: {
        const high = view.getBigUint64(this.#start);
        return new IpAddress(6, high << 64n | view.getBigUint64(this.#start + 8));
      }
      default:
        throw new MalformedMessageError(
          `attribute ${this.type} has ${this.#length} bytes where an address has 4 or 16`,
        );
    }
  }

  /** The attributes inside the current one, after `skip` bytes of fixed header. */
  nested(skip = 0): AttributeDecoder {
    if (this.#length < skip) {
      throw new MalformedMessageError(
        `attribute ${this.type} has ${this.#length} bytes, its header needs ${skip}`,
      );
    }
    return new AttributeDecoder(this.#view, this.#start + skip, this.#start + this.#length);
  }

  /** The payload as a view of at least `size` bytes, for fixed structures. */
  struct(size: number): DataView {
    if (this.#length < size) {
      throw new MalformedMessageError(
        `attribute ${this.type} has ${this.#length} bytes instead of at least ${size}`,
      );
    }
    return new DataView(this.#view.buffer, this.#view.byteOffset + this.#start, this.#length);
  }

  #expect(size: number): void {
    if (this.#length !== size) {
      throw new MalformedMessageError(
        `attribute ${this.type} has ${this.#length} bytes instead of ${size}`,
      );
    }
  }

  #utf8(): string {
    const bytes = this.bytes();
    const end = bytes.indexOf(0);
    return decodeText(end < 0 ? bytes : bytes.subarray(0, end));
  }
}

/**
 * UTF-8 as a string. Names in the kernel are ASCII nearly always, and the first TextDecoder of a
 * process costs more than reading a link.
 */
export function decodeText(bytes: Uint8Array): string {
  return bytes.every((byte) => byte < 0x80)
    ? String.fromCharCode(...bytes)
    : new TextDecoder().decode(bytes);
}

/** A value under construction: attributes come in any order and fill it one by one. */
export type Draft<T> = { -readonly [Key in keyof T]: T[Key] };
