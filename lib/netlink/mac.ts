/** Link-layer addresses as text. Without regular expressions: compiling one costs a tenth of a millisecond. */

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
  const bytes = new Uint8Array(MAC_BYTES);
  let valid = text.length === 3 * MAC_BYTES - 1;
  for (let n = 0; n < MAC_BYTES; n++) {
    const [high, low] = [hexDigit(text, 3 * n), hexDigit(text, 3 * n + 1)];
    if (high < 0 || low < 0 || (n > 0 && text[3 * n - 1] !== ":")) valid = false;
    bytes[n] = high << 4 | low;
  }
  if (valid) return bytes;
  throw new InvalidRequestError({
    operation: "parse MAC address",
    subject: JSON.stringify(text),
    reason: "it is not six hexadecimal bytes with colons between them",
  });
}

const MAC_BYTES = 6;
const HEX_DIGITS = "0123456789abcdef";

/** Value of the digit at `at`; negative if there is none. */
function hexDigit(text: string, at: number): number {
  const digit = text[at]?.toLowerCase();
  return digit === undefined ? -1 : HEX_DIGITS.indexOf(digit);
}
