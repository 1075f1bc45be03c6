/**
 * Inclusive address ranges and their set algebra.
 *
 * An IPv6 pool has 2^64 addresses, so nothing here enumerates: a pool is a short list
 * of ranges, and taking addresses out of it gives another short list.
 */

import { type Family, type IpAddress, parseAddress } from "./address.ts";
import { AddressError, quote } from "./errors.ts";
import { parsePrefix, type Prefix } from "./prefix.ts";

/** All addresses from `start` to `end`, both included. Never empty. */
export class AddressRange {
  readonly start: IpAddress;
  readonly end: IpAddress;

  /** @throws {AddressError} if the ends are of two families or in the wrong order. */
  constructor(start: IpAddress, end: IpAddress) {
    const reason = start.family !== end.family
      ? "the ends are of different families"
      : start.value > end.value
      ? "the start is after the end"
      : undefined;
    if (reason !== undefined) {
      throw new AddressError({ operation: "make range", subject: `${start}-${end}`, reason });
    }
    this.start = start;
    this.end = end;
  }

  get family(): Family {
    return this.start.family;
  }

  /** How many addresses the range holds; at least one. */
  get size(): bigint {
    return this.end.value - this.start.value + 1n;
  }

  contains(address: IpAddress): boolean {
    return this.indexOf(address) !== undefined;
  }

  /** Whether any address is in both. */
  overlaps(other: AddressRange): boolean {
    return this.family === other.family && this.start.value <= other.end.value &&
      other.start.value <= this.end.value;
  }

  equals(other: AddressRange): boolean {
    return this.start.equals(other.start) && this.end.equals(other.end);
  }

  /** Order by start, then by end, for `Array.sort`. */
  compare(other: AddressRange): number {
    return this.start.compare(other.start) || this.end.compare(other.end);
  }

  /**
   * The address at `index`, counted from zero.
   *
   * @throws {AddressError} if the range is shorter.
   */
  at(index: bigint): IpAddress {
    if (index < 0n || index >= this.size) {
      throw new AddressError({
        operation: "take address from range",
        subject: this.toString(),
        reason: `index ${index} is not below its size ${this.size}`,
      });
    }
    return this.start.offset(index);
  }

  /** Where `address` stands in the range, or `undefined` if it does not. */
  indexOf(address: IpAddress): bigint | undefined {
    if (address.family !== this.family) return undefined;
    if (address.value < this.start.value || address.value > this.end.value) return undefined;
    return address.value - this.start.value;
  }

  /** `start-end`, or the one address. */
  toString(): string {
    return this.start.equals(this.end) ? this.start.toString() : `${this.start}-${this.end}`;
  }

  toJSON(): string {
    return this.toString();
  }

  /** Shown as text in assertion diffs. */
  [Symbol.for("Deno.customInspect")](): string {
    return `AddressRange ${this}`;
  }
}

/** Every address of `prefix`, network and broadcast address included. */
export function wholeRange(prefix: Prefix): AddressRange {
  return new AddressRange(prefix.network, prefix.last);
}

/**
 * The addresses of `prefix` that an interface may carry.
 *
 * As in host-local (`Range.Canonicalize` in
 * plugins/ipam/host-local/backend/allocator/range.go): from network + 1, which leaves out
 * the IPv4 network address and the IPv6 subnet-router anycast address (RFC 4291 section
 * 2.6.1), to the last address, in IPv4 the one before it, which is the broadcast address.
 * The gateway is inside; it is the caller's to exclude.
 *
 * host-local refuses prefixes of two addresses or one. Here all their addresses are
 * usable, as RFC 3021 (`/31`) and RFC 6164 (`/127`) say for point-to-point links.
 *
 * @example
 * ```ts
 * import { parsePrefix } from "./prefix.ts";
 * import { usableRange } from "./range.ts";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(`${usableRange(parsePrefix("10.0.0.0/24"))}`, "10.0.0.1-10.0.0.254");
 * assertEquals(`${usableRange(parsePrefix("fd00::/120"))}`, "fd00::1-fd00::ff");
 * ```
 */
export function usableRange(prefix: Prefix): AddressRange {
  if (prefix.size <= 2n) return wholeRange(prefix);
  const end = prefix.family === 4 ? prefix.last.offset(-1n) : prefix.last;
  return new AddressRange(prefix.network.offset(1n), end);
}

/** The same addresses as a sorted list in which no two ranges overlap or touch. */
export function mergeRanges(ranges: readonly AddressRange[]): AddressRange[] {
  const merged: AddressRange[] = [];
  for (const range of ranges.toSorted((a, b) => a.compare(b))) {
    const previous = merged.at(-1);
    if (previous?.family !== range.family || previous.end.value + 1n < range.start.value) {
      merged.push(range);
    } else if (previous.end.value < range.end.value) {
      merged[merged.length - 1] = new AddressRange(previous.start, range.end);
    }
  }
  return merged;
}

/**
 * The addresses of `ranges` that are not in `excluded`, merged and sorted.
 *
 * @example
 * ```ts
 * import { parseRange, subtractRanges } from "./range.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const free = subtractRanges(
 *   [parseRange("10.0.0.1-10.0.0.254")],
 *   [parseRange("10.0.0.1"), parseRange("10.0.0.64/26")],
 * );
 * assertEquals(free.map(String), ["10.0.0.2-10.0.0.63", "10.0.0.128-10.0.0.254"]);
 * ```
 */
export function subtractRanges(
  ranges: readonly AddressRange[],
  excluded: readonly AddressRange[],
): AddressRange[] {
  const holes = mergeRanges(excluded);
  return mergeRanges(ranges).flatMap((range) => cutHoles(range, holes));
}

/** `holes` are sorted and apart, so one pass from left to right is enough. */
function cutHoles(range: AddressRange, holes: readonly AddressRange[]): AddressRange[] {
  const kept: AddressRange[] = [];
  let start = range.start;
  for (const hole of holes) {
    if (!hole.overlaps(range)) continue;
    if (start.value < hole.start.value) {
      kept.push(new AddressRange(start, hole.start.offset(-1n)));
    }
    // Returning here also keeps the step past the hole inside the address space.
    if (hole.end.value >= range.end.value) return kept;
    start = hole.end.offset(1n);
  }
  kept.push(new AddressRange(start, range.end));
  return kept;
}

/**
 * The range written as `text`: `10.0.0.5-10.0.0.9`, one address, or a prefix, which means
 * every address in it.
 *
 * @throws {AddressError} saying what is wrong.
 */
export function parseRange(text: string): AddressRange {
  try {
    if (text.includes("/")) return wholeRange(parsePrefix(text, { requireNetwork: true }));
    const dash = text.indexOf("-");
    if (dash === -1) {
      const address = parseAddress(text);
      return new AddressRange(address, address);
    }
    return new AddressRange(parseAddress(text.slice(0, dash)), parseAddress(text.slice(dash + 1)));
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    throw new AddressError({
      operation: "parse range",
      subject: quote(text),
      reason: error.operation === "parse address"
        ? `${error.subject} ${error.reason}`
        : error.reason,
    });
  }
}
