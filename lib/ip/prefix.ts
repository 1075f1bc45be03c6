/** An address with a prefix length: a network, or an interface's place in one. */

import { type Family, familyBits, IpAddress, parseAddress } from "./address.ts";
import { AddressError, quote } from "./errors.ts";

/**
 * A prefix in CIDR notation, RFC 4632 section 3.1.
 *
 * Host bits are kept, since CNI writes an interface's address as `10.1.2.3/24`:
 * `address` is what was written, `network` and {@linkcode Prefix.masked} drop them.
 *
 * @example
 * ```ts
 * import { parsePrefix } from "./prefix.ts";
 * import { assert, assertEquals } from "@std/assert";
 *
 * const pod = parsePrefix("10.244.3.7/24");
 * assertEquals(`${pod}`, "10.244.3.7/24");
 * assertEquals(`${pod.masked()}`, "10.244.3.0/24");
 * assert(parsePrefix("10.244.0.0/16").contains(pod));
 * ```
 */
export class Prefix {
  /** The address as written, host bits included. */
  readonly address: IpAddress;
  /** Leading bits that name the network. */
  readonly length: number;

  /** @throws {AddressError} if `length` is no whole number from 0 to 32 or 128. */
  constructor(address: IpAddress, length: number) {
    if (!Number.isInteger(length) || length < 0 || length > address.bits) {
      throw new AddressError({
        operation: "make prefix",
        subject: `${address}/${length}`,
        reason: `the length of an IPv${address.family} prefix is 0 to ${address.bits}`,
      });
    }
    this.address = address;
    this.length = length;
  }

  get family(): Family {
    return this.address.family;
  }

  /** Bits after the prefix. */
  get #hostBits(): bigint {
    return BigInt(this.address.bits - this.length);
  }

  /** The first address: host bits all zero. */
  get network(): IpAddress {
    const hostBits = this.#hostBits;
    return new IpAddress(this.family, this.address.value >> hostBits << hostBits);
  }

  /** The last address: host bits all one. In IPv4 up to `/30`, the broadcast address. */
  get last(): IpAddress {
    return new IpAddress(this.family, this.network.value + this.size - 1n);
  }

  /** How many addresses the prefix covers. */
  get size(): bigint {
    return 1n << this.#hostBits;
  }

  /** Whether this is a single address: `/32` or `/128`. */
  get isHost(): boolean {
    return this.length === this.address.bits;
  }

  /** Whether no host bit is set. */
  get isNetwork(): boolean {
    return this.address.value === this.network.value;
  }

  /** The same network without host bits. */
  masked(): Prefix {
    return new Prefix(this.network, this.length);
  }

  /** Whether `other` lies inside, whole. Never true across families. */
  contains(other: IpAddress | Prefix): boolean {
    const address = other instanceof Prefix ? other.address : other;
    if (address.family !== this.family) return false;
    if (other instanceof Prefix && other.length < this.length) return false;
    const hostBits = this.#hostBits;
    return address.value >> hostBits === this.address.value >> hostBits;
  }

  /** Whether any address is in both. */
  overlaps(other: Prefix): boolean {
    return this.length <= other.length ? this.contains(other) : other.contains(this);
  }

  /** Whether both are written the same, host bits included. */
  equals(other: Prefix): boolean {
    return this.length === other.length && this.address.equals(other.address);
  }

  /** Order by address, then from wide to narrow, for `Array.sort`. */
  compare(other: Prefix): number {
    return this.address.compare(other.address) || this.length - other.length;
  }

  /**
   * How many prefixes of `length` fit.
   *
   * @throws {AddressError} if `length` is shorter than this prefix or longer than an address.
   */
  subnetCount(length: number): bigint {
    const bits = familyBits(this.family);
    if (!Number.isInteger(length) || length < this.length || length > bits) {
      throw new AddressError({
        operation: "divide prefix",
        subject: this.toString(),
        reason: `a subnet's length is ${this.length} to ${bits}, not ${length}`,
      });
    }
    return 1n << BigInt(length - this.length);
  }

  /**
   * The subnet number `index` of `length`, counted from zero.
   *
   * By index, because a base prefix may hold more subnets than a list can: a node's
   * name is hashed to an index and only that one subnet is made.
   *
   * @throws {AddressError} if there is no such subnet.
   *
   * @example
   * ```ts
   * import { parsePrefix } from "./prefix.ts";
   * import { assertEquals } from "@std/assert";
   *
   * const base = parsePrefix("10.244.0.0/16");
   * assertEquals(base.subnetCount(24), 256n);
   * assertEquals(`${base.subnet(3n, 24)}`, "10.244.3.0/24");
   * ```
   */
  subnet(index: bigint, length: number): Prefix {
    const count = this.subnetCount(length);
    if (index < 0n || index >= count) {
      throw new AddressError({
        operation: "divide prefix",
        subject: this.toString(),
        reason: `subnet ${index} of ${count} of length ${length} does not exist`,
      });
    }
    const step = BigInt(familyBits(this.family) - length);
    return new Prefix(this.network.offset(index << step), length);
  }

  toString(): string {
    return `${this.address}/${this.length}`;
  }

  toJSON(): string {
    return this.toString();
  }

  /** Shown as text in assertion diffs. */
  [Symbol.for("Deno.customInspect")](): string {
    return `Prefix ${this}`;
  }
}

/** Options for {@linkcode parsePrefix}. */
export interface ParsePrefixOptions {
  /**
   * Refuse a prefix with host bits, where it can only be a mistyped network.
   *
   * @default {false}
   */
  readonly requireNetwork?: boolean;
}

/**
 * The prefix written as `text`, such as `10.244.0.0/16` or `fd00::1/64`.
 *
 * @throws {AddressError} saying what is wrong.
 */
export function parsePrefix(text: string, options: ParsePrefixOptions = {}): Prefix {
  const { requireNetwork = false } = options;
  const slash = text.indexOf("/");
  if (slash === -1) throw prefixError(text, "has no length, such as /24");
  let address: IpAddress;
  try {
    address = parseAddress(text.slice(0, slash));
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    throw prefixError(text, `the address ${error.reason}`);
  }
  const length = text.slice(slash + 1);
  if (!/^(0|[1-9][0-9]{0,2})$/.test(length) || Number(length) > address.bits) {
    throw prefixError(
      text,
      `length ${quote(length)} is not a decimal number from 0 to ${address.bits}`,
    );
  }
  const prefix = new Prefix(address, Number(length));
  if (requireNetwork && !prefix.isNetwork) {
    throw prefixError(text, `host bits set; did you mean ${prefix.masked()}?`);
  }
  return prefix;
}

function prefixError(text: string, reason: string): AddressError {
  return new AddressError({ operation: "parse prefix", subject: quote(text), reason });
}
