/** Link-layer addresses as text. */

import { InvalidRequestError } from "./errors.ts";

/**
 * Six bytes as `aa:bb:cc:dd:ee:ff`; also other lengths, as tunnels have.
 *
 * @example
 * ```ts
 * import { formatMac, parseMac } from "./mac.ts";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(formatMac(parseMac("0A:58:0a:00:00:02")), "0a:58:0a:00:00:02");
 * ```
 */
export function formatMac(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) {
    text += `${text === "" ? "" : ":"}${byte.toString(16).padStart(2, "0")}`;
  }
  return text;
}

/** @throws {InvalidRequestError} unless `text` is six hexadecimal bytes. */
export function parseMac(text: string): Uint8Array<ArrayBuffer> {
  if (!/^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/i.test(text)) {
    throw new InvalidRequestError({
      operation: "parse MAC address",
      subject: JSON.stringify(text),
      reason: "it is not six hexadecimal bytes with colons between them",
    });
  }
  return Uint8Array.from(text.split(":"), (byte) => parseInt(byte, 16));
}
