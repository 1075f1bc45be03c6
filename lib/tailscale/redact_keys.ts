/** Keys that are recognised by their look, wherever they turn up. */

const MASK = "***";

/**
 * - keys of Tailscale (`tskey-auth-…`) and Headscale (`hskey-auth-…`, `hskey-api-…`)
 * - what follows `authkey`, `auth_key`, `AuthKey` in flags, URLs and JSON
 * - private keys as Tailscale prints them; public ones (`nodekey:`) stay
 * - bearer tokens, and passwords in URLs
 *
 * Keys of Headscale before 0.28 are bare hexadecimal digits, as are many harmless things:
 * who knows such a key conceals it as a `Secret`.
 */
const KEYS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:tskey|hskey)-[\w-]+/g, MASK],
  [/\bprivkey:[0-9a-f]+/gi, `privkey:${MASK}`],
  [/\b(auth[-_ ]?key["']?\s*[=:]\s*["']?)(?!\*{3})[^\s"',&}]+/gi, `$1${MASK}`],
  [/\b(bearer\s+)(?!\*{3})[\w.~+/=-]+/gi, `$1${MASK}`],
  [/(\/\/[^\s/@:]*:)[^\s/@]+@/g, `$1${MASK}@`],
];

/**
 * `text` with everything that looks like a key replaced by `***`.
 *
 * @example
 * ```ts
 * import { redactKeys } from "./redact_keys.ts";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(redactKeys("up --authkey=tskey-auth-k1-x2 now"), "up --authkey=*** now");
 * assertEquals(redactKeys("peer nodekey:0123 is up"), "peer nodekey:0123 is up");
 * ```
 */
export function redactKeys(text: string): string {
  return KEYS.reduce((redacted, [pattern, mask]) => redacted.replace(pattern, mask), text);
}
