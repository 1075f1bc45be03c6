/**
 * Range sets: from each of them an attachment gets one address.
 *
 * The words are those of host-local: a range is a part of a subnet; a range set is a list
 * of ranges of one family, tried in order; a network has one or more range sets.
 */

import { type Family, type IpAddress } from "../ip/address.ts";
import { Prefix } from "../ip/prefix.ts";
import { AddressRange, subtractRanges } from "../ip/range.ts";

/** A part of a subnet. */
export interface PoolRange {
  readonly subnet: Prefix;
  /** First to last address as configured, without network and broadcast address. */
  readonly span: AddressRange;
  readonly gateway: IpAddress;
}

/** The ranges one address is chosen from. */
export class RangeSet {
  readonly ranges: readonly PoolRange[];
  /** What may be given out: the ranges in order, without gateways and excluded addresses. */
  readonly candidates: readonly AddressRange[];

  /** `ranges` is not empty and of one family. */
  constructor(ranges: readonly PoolRange[], excluded: readonly AddressRange[] = []) {
    this.ranges = ranges;
    const holes = [
      ...excluded,
      ...ranges.map(({ gateway }) => new AddressRange(gateway, gateway)),
    ];
    this.candidates = ranges.flatMap(({ span }) => subtractRanges([span], holes));
  }

  get family(): Family {
    return this.ranges[0]?.subnet.family ?? 4;
  }

  /** How many addresses may be given out. */
  get size(): bigint {
    return this.candidates.reduce((sum, range) => sum + range.size, 0n);
  }

  /** The range `address` is in, gateway and excluded addresses included. */
  rangeOf(address: IpAddress): PoolRange | undefined {
    return this.ranges.find(({ span }) => span.contains(address));
  }

  /** Whether `address` may be given out. */
  offers(address: IpAddress): boolean {
    return this.candidates.some((range) => range.contains(address));
  }

  /** `10.0.0.2-10.0.0.254` or, of several ranges, all of them. */
  toString(): string {
    return this.ranges.map(({ span }) => span.toString()).join(", ");
  }
}

/** `address` with the length of its subnet, as a CNI result has it. */
export function withSubnet(address: IpAddress, range: PoolRange): Prefix {
  return new Prefix(address, range.subnet.length);
}
