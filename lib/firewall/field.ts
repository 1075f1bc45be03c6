/** Fields of set keys and map values: from words to the bytes nftables compares, and back. */

import { IpAddress } from "../ip/mod.ts";
import { decodeText } from "../netlink/attribute_decoder.ts";

/** What a field holds, by the name `nft` gives its data type. */
export type FieldType = "ifname" | "ipv4_addr" | "ipv6_addr" | "inet_proto" | "inet_service";

/** A field's value: an interface or protocol by name, an address, a port. */
export type FieldValue = string | number | IpAddress;

/** Transport protocols a host port may have: `IPPROTO_*` of `netinet/in.h`. */
export const PROTOCOLS = { tcp: 6, udp: 17, sctp: 132 } as const;

/** A transport protocol with ports. */
export type Protocol = keyof typeof PROTOCOLS;

/** Bytes per field, before padding. `IFNAMSIZ` is 16. */
const FIELD_BYTES: Readonly<Record<FieldType, number>> = {
  ifname: 16,
  ipv4_addr: 4,
  ipv6_addr: 16,
  inet_proto: 1,
  inet_service: 2,
};

/**
 * The key, or the value, of an element. One field stands alone, several are padded to four
 * bytes each.
 *
 * @example
 * ```ts
 * import { encodeFields } from "./field.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const key = encodeFields(["inet_proto", "inet_service"], ["tcp", 8080]);
 * assertEquals([...key], [6, 0, 0, 0, 0x1f, 0x90, 0, 0]);
 * ```
 */
export function encodeFields(
  types: readonly FieldType[],
  values: readonly FieldValue[],
): Uint8Array {
  const lengths = types.map((type) => types.length === 1 ? FIELD_BYTES[type] : padded(type));
  const bytes = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0));
  let at = 0;
  for (const [index, type] of types.entries()) {
    putField(bytes, at, { type, value: values[index] });
    at += padded(type);
  }
  return bytes;
}

/**
 * The fields as `nft list` writes them.
 *
 * @example
 * ```ts
 * import { formatFields } from "./field.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const key = Uint8Array.of(17, 0, 0, 0, 0, 53, 0, 0);
 * assertEquals(formatFields(["inet_proto", "inet_service"], key), "udp . 53");
 * ```
 */
export function formatFields(types: readonly FieldType[], bytes: Uint8Array): string {
  return splitFields(types, bytes).map(({ type, field }) => formatField(type, field)).join(" . ");
}

/** The fields as `nft -f` reads them: like {@linkcode formatFields}, names in quotes. */
export function renderFields(types: readonly FieldType[], bytes: Uint8Array): string {
  return splitFields(types, bytes).map(({ type, field }) => {
    const text = formatField(type, field);
    return type === "ifname" ? `"${text}"` : text;
  }).join(" . ");
}

/** The first field of a key, if it is an interface's name. */
export function leadingInterface(
  types: readonly FieldType[],
  key: Uint8Array,
): string | undefined {
  return types[0] === "ifname" ? formatField("ifname", key.subarray(0, 16)) : undefined;
}

function splitFields(
  types: readonly FieldType[],
  bytes: Uint8Array,
): { readonly type: FieldType; readonly field: Uint8Array }[] {
  let at = 0;
  return types.map((type) => {
    const field = bytes.subarray(at, at + FIELD_BYTES[type]);
    at += padded(type);
    return { type, field };
  });
}

function padded(type: FieldType): number {
  return FIELD_BYTES[type] + 3 & ~3;
}

function putField(
  bytes: Uint8Array,
  at: number,
  { type, value }: { readonly type: FieldType; readonly value: FieldValue | undefined },
): void {
  if (value instanceof IpAddress && value.bits / 8 === FIELD_BYTES[type]) {
    bytes.set(value.toBytes(), at);
  } else if (type === "ifname" && typeof value === "string") {
    new TextEncoder().encodeInto(value, bytes.subarray(at, at + FIELD_BYTES.ifname));
  } else if (type === "inet_proto" && isProtocol(value)) {
    bytes[at] = PROTOCOLS[value];
  } else if (type === "inet_service" && typeof value === "number") {
    bytes[at] = value >> 8;
    bytes[at + 1] = value & 0xff;
  } else {
    throw new TypeError(`Cannot encode field: ${value} is no ${type}`);
  }
}

function isProtocol(value: FieldValue | undefined): value is Protocol {
  return typeof value === "string" && Object.hasOwn(PROTOCOLS, value);
}

function formatField(type: FieldType, bytes: Uint8Array): string {
  switch (type) {
    case "ifname": {
      const end = bytes.indexOf(0);
      return decodeText(end < 0 ? bytes : bytes.subarray(0, end));
    }
    case "ipv4_addr":
    case "ipv6_addr":
      return IpAddress.fromBytes(bytes).toString();
    case "inet_proto":
      return Object.entries(PROTOCOLS).find(([, number]) => number === bytes[0])?.[0] ??
        String(bytes[0]);
    case "inet_service":
      return String((bytes[0] ?? 0) << 8 | (bytes[1] ?? 0));
  }
}
