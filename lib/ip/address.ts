/** One IPv4 or IPv6 address as an immutable value. */

import { AddressError } from "./errors.ts";
import { formatIpv4, formatIpv6, parseIpv4, parseIpv6 } from "./text.ts";

/** The IP version. */
export type Family = 4 | 6;

/** Address bits per family: 32 or 128. */
export function familyBits(family: Family): 32 | 128 {
  return family === 4 ? 32 : 128;
}

/**
 * An address: its family and its value as a number.
 *
 * Addresses of one family compare by value; every IPv4 address sorts before every
 * IPv6 address, so a mixed list has one order.
 *
 * @example
 * ```ts
 * import { parseAddress } from "./address.ts";
 * import { assert, assertEquals } from "@std/assert";
 *
 * const gateway = parseAddress("10.244.3.1");
 * assertEquals(`${gateway.offset(1n)}`, "10.244.3.2");
 * assert(gateway.equals(parseAddress("10.244.3.1")));
 * assertEquals(JSON.stringify({ gateway }), '{"gateway":"10.244.3.1"}');
 * ```
 */
export class IpAddress {
  readonly family: Family;
  readonly value: bigint;

  /** @throws {AddressError} if `value` does not fit the family. */
  constructor(family: Family, value: bigint) {
    if (value < 0n || value >> BigInt(familyBits(family)) !== 0n) {
      throw new AddressError({
        operation: "make address",
        subject: `0x${value.toString(16)}`,
        reason: `is outside the IPv${family} address space`,
      });
    }
    this.family = family;
    this.value = value;
  }

  /**
   * The address of 4 or 16 bytes in network order, as netlink and the kernel carry it.
   *
   * @throws {AddressError} for any other number of bytes.
   */
  static fromBytes(bytes: Uint8Array): IpAddress {
    if (bytes.length !== 4 && bytes.length !== 16) {
      throw new AddressError({
        operation: "decode address",
        reason: `has ${bytes.length} bytes instead of 4 or 16`,
      });
    }
    let value = 0n;
    for (const byte of bytes) value = value << 8n | BigInt(byte);
    return new IpAddress(bytes.length === 4 ? 4 : 6, value);
  }

  /** 32 or 128. */
  get bits(): 32 | 128 {
    return familyBits(this.family);
  }

  /** 4 or 16 bytes in network order. */
  toBytes(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(this.bits / 8);
    let rest = this.value;
    for (let i = bytes.length - 1; i >= 0; i--) {
      bytes[i] = Number(rest & 0xffn);
      rest >>= 8n;
    }
    return bytes;
  }

  /**
   * The address `distance` places on; negative goes back.
   *
   * @throws {AddressError} if that leaves the address space.
   */
  offset(distance: bigint): IpAddress {
    return new IpAddress(this.family, this.value + distance);
  }

  equals(other: IpAddress): boolean {
    return this.family === other.family && this.value === other.value;
  }

  /** Negative, zero or positive, for `Array.sort`. */
  compare(other: IpAddress): number {
    if (this.family !== other.family) return this.family - other.family;
    return this.value < other.value ? -1 : this.value > other.value ? 1 : 0;
  }

  /** `0.0.0.0` or `::`. */
  get isUnspecified(): boolean {
    return this.value === 0n;
  }

  /** In `127.0.0.0/8`, or `::1`. */
  get isLoopback(): boolean {
    return this.family === 4 ? this.value >> 24n === 127n : this.value === 1n;
  }

  /** In `169.254.0.0/16` or `fe80::/10`. */
  get isLinkLocal(): boolean {
    return this.family === 4 ? this.value >> 16n === 0xa9fen : this.value >> 118n === 0xfe80n >> 6n;
  }

  /** In `224.0.0.0/4` or `ff00::/8`. */
  get isMulticast(): boolean {
    return this.family === 4 ? this.value >> 28n === 0xen : this.value >> 120n === 0xffn;
  }

  /** Dotted decimal, or the canonical text of RFC 5952. */
  toString(): string {
    return this.family === 4 ? formatIpv4(this.value) : formatIpv6(this.value);
  }

  toJSON(): string {
    return this.toString();
  }

  /** Shown as text in assertion diffs, where the bare number would tell nothing. */
  [Symbol.for("Deno.customInspect")](): string {
    return `IpAddress ${this}`;
  }
}

/**
 * The address written as `text`.
 *
 * Strict, because two programs that read a sloppy address differently send packets to
 * different places: four decimal parts without leading zeros, or IPv6 without zone id.
 * IPv4-mapped IPv6 is refused: it names an IPv4 address under the wrong family.
 *
 * @throws {AddressError} saying what is wrong.
 *
 * @example
 * ```ts
 * import { parseAddress } from "./address.ts";
 * import { AddressError } from "./errors.ts";
 * import { assertEquals, assertThrows } from "@std/assert";
 *
 * assertEquals(parseAddress("2001:DB8:0::1").toString(), "2001:db8::1");
 * assertThrows(
 *   () => parseAddress("010.0.0.1"),
 *   AddressError,
 *   'Cannot parse address "010.0.0.1": part "010" has a leading zero',
 * );
 * ```
 */
export function parseAddress(text: string): IpAddress {
  return text.includes(":") ? new IpAddress(6, parseIpv6(text)) : new IpAddress(4, parseIpv4(text));
}
