/**
 * Addresses as text: strict parsing to a number, canonical formatting from it.
 *
 * IPv6 goes through ipaddr.js. IPv4 does not: ipaddr.js follows inet_aton(3), where
 * `10.1` and `010.0.0.1` are addresses (the latter is 8.0.0.1), so every octet has to be
 * looked at here anyway; by then it is parsed, and ten times faster.
 */

import ipaddr from "ipaddr.js";
import { AddressError, quote } from "./errors.ts";

/** `::ffff:0:0/96`, RFC 4291 section 2.5.5.2, without its lower 32 bits. */
const IPV4_MAPPED = 0xffffn;

const ZERO = 0x30;
const NINE = 0x39;
const DOT = 0x2e;

/** The value of dotted-decimal `text`; throws an {@linkcode AddressError} for anything else. */
export function parseIpv4(text: string): bigint {
  const value = ipv4Value(text);
  if (value === undefined) throw parseError(text, ipv4Reason(text));
  return BigInt(value);
}

/** The value of IPv6 `text`; throws an {@linkcode AddressError} for anything else. */
export function parseIpv6(text: string): bigint {
  const reason = ipv6Reason(text);
  if (reason !== undefined) throw parseError(text, reason);
  let value = 0n;
  for (const part of ipaddr.IPv6.parse(withoutDottedTail(text)).parts) {
    value = value << 16n | BigInt(part);
  }
  if (value >> 32n === IPV4_MAPPED) {
    const embedded = formatIpv4(value & 0xffff_ffffn);
    throw parseError(text, `is an IPv4-mapped IPv6 address; write ${embedded}`);
  }
  return value;
}

/** The dotted-decimal form of a 32-bit `value`. */
export function formatIpv4(value: bigint): string {
  const bits = Number(value);
  return `${bits >>> 24}.${bits >>> 16 & 0xff}.${bits >>> 8 & 0xff}.${bits & 0xff}`;
}

/** The RFC 5952 form of a 128-bit `value`. */
export function formatIpv6(value: bigint): string {
  const parts: number[] = [];
  for (let shift = 112n; shift >= 0n; shift -= 16n) parts.push(Number(value >> shift & 0xffffn));
  return new ipaddr.IPv6(parts).toRFC5952String();
}

function parseError(text: string, reason: string): AddressError {
  return new AddressError({ operation: "parse address", subject: quote(text), reason });
}

/** One pass over the characters, since this runs for every address on the ADD path. */
function ipv4Value(text: string): number | undefined {
  let value = 0;
  let octet = 0;
  let digits = 0;
  let octets = 1;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === DOT) {
      if (digits === 0 || octets === 4) return undefined;
      value = value * 256 + octet;
      octets++;
      octet = 0;
      digits = 0;
    } else if (code >= ZERO && code <= NINE) {
      if (digits > 0 && octet === 0) return undefined;
      octet = octet * 10 + code - ZERO;
      if (octet > 255) return undefined;
      digits++;
    } else {
      return undefined;
    }
  }
  return octets === 4 && digits > 0 ? value * 256 + octet : undefined;
}

function ipv4Reason(text: string): string {
  if (text === "") return "is empty";
  if (/\s/.test(text)) return "contains white space";
  if (text.includes("/")) return "is a prefix; an address has no length";
  const octets = text.split(".");
  if (octets.length === 1) return "is neither an IPv4 nor an IPv6 address";
  if (octets.length !== 4) return `has ${octets.length} parts instead of 4`;
  for (const octet of octets) {
    if (octet === "") return "has an empty part";
    if (!/^[0-9]+$/.test(octet)) return `part ${quote(octet)} is not a decimal number`;
    // Some programs read 010 as octal 8, others as 10; RFC 6943 section 3.1.1.
    if (octet.startsWith("0") && octet !== "0") return `part ${quote(octet)} has a leading zero`;
  }
  return `part ${quote(octets.find((octet) => Number(octet) > 255) ?? "")} is above 255`;
}

/** Why `text` is no IPv6 address. Complete: what passes here, ipaddr.js parses. */
function ipv6Reason(text: string): string | undefined {
  if (/\s/.test(text)) return "contains white space";
  if (text.includes("%")) return "has a zone id, which means nothing on another machine";
  if (text.includes("[")) return "is in brackets";
  if (text.includes("/")) return "is a prefix; an address has no length";
  const halves = text.split("::");
  if (halves.length > 2 || text.includes(":::")) return 'has more than one "::"';
  const groups = halves.flatMap((half) => half === "" ? [] : half.split(":"));
  const dotted = groups.at(-1)?.includes(".") ? groups.pop() : undefined;
  if (dotted !== undefined && (!text.endsWith(dotted) || ipv4Value(dotted) === undefined)) {
    return `ends in ${quote(dotted)}, which is not an IPv4 address`;
  }
  for (const group of groups) {
    if (group === "") return 'has an empty group; only "::" stands for zeros';
    if (!/^[0-9a-fA-F]+$/.test(group)) return `group ${quote(group)} is not hexadecimal`;
    if (group.length > 4) return `group ${quote(group)} has more than 4 digits`;
  }
  const count = groups.length + (dotted === undefined ? 0 : 2);
  if (halves.length === 1 && count !== 8) return `has ${count} groups instead of 8`;
  if (halves.length === 2 && count > 7) return `has ${count} groups and a "::"`;
  return undefined;
}

/** ipaddr.js reads `::1.2.3.4` as `::ffff:1.2.3.4`, so the tail is rewritten in hexadecimal. */
function withoutDottedTail(text: string): string {
  if (!text.includes(".")) return text;
  const start = text.lastIndexOf(":") + 1;
  const tail = ipv4Value(text.slice(start)) ?? 0;
  return `${text.slice(0, start)}${(tail >>> 16).toString(16)}:${(tail & 0xffff).toString(16)}`;
}
