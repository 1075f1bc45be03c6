/** Writes the payload of a netlink message: fixed headers and attributes. */

import type { IpAddress } from "../ip/mod.ts";
import { nlaAlign } from "./align.ts";
import { NLA_F_NESTED, NLA_HDRLEN } from "./constants/netlink.ts";
import { InvalidRequestError } from "./errors.ts";

const LITTLE_ENDIAN = true;
/** Room for a usual request, so that most never grow. */
const INITIAL_BYTES = 256;
/** `nla_len` is a u16. */
const MAX_ATTRIBUTE_BYTES = 0xffff;

/**
 * Builds a payload front to back.
 *
 * `put…` writes a bare field of a fixed header; the methods that take a type write one
 * attribute. Whatever is unset is zero, so padding never leaks memory.
 *
 * @example
 * ```ts
 * import { PayloadEncoder } from "./payload_encoder.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const payload = new PayloadEncoder().putU32(7).string(3, "lo").finish();
 * assertEquals([...payload], [7, 0, 0, 0, 7, 0, 3, 0, 0x6c, 0x6f, 0, 0]);
 * ```
 */
export class PayloadEncoder {
  // Making room may replace both, so every method asks for room first, in a statement of its own.
  #bytes = new Uint8Array(INITIAL_BYTES);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  /** Bytes written so far. */
  get length(): number {
    return this.#length;
  }

  putU8(value: number): this {
    const at = this.#reserve(1);
    this.#view.setUint8(at, value);
    return this;
  }

  putU16(value: number): this {
    const at = this.#reserve(2);
    this.#view.setUint16(at, value, LITTLE_ENDIAN);
    return this;
  }

  putU32(value: number): this {
    const at = this.#reserve(4);
    this.#view.setUint32(at, value, LITTLE_ENDIAN);
    return this;
  }

  /** Network byte order. */
  putBe16(value: number): this {
    const at = this.#reserve(2);
    this.#view.setUint16(at, value);
    return this;
  }

  putBytes(bytes: Uint8Array): this {
    const at = this.#reserve(bytes.length);
    this.#bytes.set(bytes, at);
    return this;
  }

  u8(type: number, value: number): this {
    const at = this.#attribute(type, 1);
    this.#view.setUint8(at, value);
    return this;
  }

  u16(type: number, value: number): this {
    const at = this.#attribute(type, 2);
    this.#view.setUint16(at, value, LITTLE_ENDIAN);
    return this;
  }

  u32(type: number, value: number): this {
    const at = this.#attribute(type, 4);
    this.#view.setUint32(at, value, LITTLE_ENDIAN);
    return this;
  }

  u64(type: number, value: bigint): this {
    const at = this.#attribute(type, 8);
    this.#view.setBigUint64(at, value, LITTLE_ENDIAN);
    return this;
  }

  /** Network byte order, as netfilter wants it. */
  be16(type: number, value: number): this {
    const at = this.#attribute(type, 2);
    this.#view.setUint16(at, value);
    return this;
  }

  /** Network byte order, as netfilter wants it. */
  be32(type: number, value: number): this {
    const at = this.#attribute(type, 4);
    this.#view.setUint32(at, value);
    return this;
  }

  /** Network byte order, as netfilter wants it. */
  be64(type: number, value: bigint): this {
    const at = this.#attribute(type, 8);
    this.#view.setBigUint64(at, value);
    return this;
  }

  /** UTF-8 with a final NUL. */
  string(type: number, text: string): this {
    const bytes = new TextEncoder().encode(text);
    const at = this.#attribute(type, bytes.length + 1);
    this.#bytes.set(bytes, at);
    return this;
  }

  bytes(type: number, bytes: Uint8Array): this {
    const at = this.#attribute(type, bytes.length);
    this.#bytes.set(bytes, at);
    return this;
  }

  address(type: number, address: IpAddress): this {
    return this.bytes(type, address.toBytes());
  }

  /**
   * One attribute whose payload is what `write` adds.
   *
   * Sets `NLA_F_NESTED` unless `plain`: strict parsers want it, but a few old users of
   * nesting (`RTA_MULTIPATH`, a veth's peer) carry a bare structure first.
   */
  nested(type: number, write: (encoder: this) => void, options: { plain?: boolean } = {}): this {
    const start = this.#reserve(NLA_HDRLEN);
    write(this);
    const length = this.#length - start;
    this.#putHeader(start, options.plain ? type : type | NLA_F_NESTED, length);
    this.#pad();
    return this;
  }

  /** A copy of what was written. */
  finish(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#length);
  }

  /** Writes an attribute header; gives the place of its payload. */
  #attribute(type: number, length: number): number {
    const start = this.#reserve(nlaAlign(NLA_HDRLEN + length));
    this.#putHeader(start, type, NLA_HDRLEN + length);
    return start + NLA_HDRLEN;
  }

  #putHeader(at: number, type: number, length: number): void {
    if (length > MAX_ATTRIBUTE_BYTES) {
      throw new InvalidRequestError({
        operation: "encode netlink message",
        reason: `attribute ${type} has ${length} bytes, the limit is ${MAX_ATTRIBUTE_BYTES}`,
      });
    }
    this.#view.setUint16(at, length, LITTLE_ENDIAN);
    this.#view.setUint16(at + 2, type, LITTLE_ENDIAN);
  }

  #pad(): void {
    this.#reserve(nlaAlign(this.#length) - this.#length);
  }

  #reserve(count: number): number {
    const start = this.#length;
    const needed = start + count;
    if (needed > this.#bytes.length) this.#grow(needed);
    this.#length = needed;
    return start;
  }

  #grow(needed: number): void {
    const bytes = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    bytes.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer);
  }
}
