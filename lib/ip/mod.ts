/**
 * Address arithmetic: addresses, prefixes and ranges of both families as values.
 *
 * Pure: no effects, and no imports of ours but the error base. Text is read with
 * ipaddr.js, numbers are `bigint`. Strings become values once, where they enter the
 * program; from there on nothing compares addresses as text.
 *
 * @module
 */

export { type Family, familyBits, IpAddress, parseAddress } from "./address.ts";
export { AddressError } from "./errors.ts";
export { parsePrefix, type ParsePrefixOptions, Prefix } from "./prefix.ts";
export {
  AddressRange,
  mergeRanges,
  parseRange,
  subtractRanges,
  usableRange,
  wholeRange,
} from "./range.ts";
export { TAILNET_IPV4, TAILNET_IPV6 } from "./well_known.ts";
