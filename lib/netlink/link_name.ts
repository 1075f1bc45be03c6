/** What the kernel accepts as the name and alias of a link. */

import { IFALIASZ, IFNAMSIZ } from "./constants/if_link.ts";
import { InvalidRequestError } from "./errors.ts";

/**
 * Gives back `name` if the kernel would take it (`dev_valid_name` in `net/core/dev.c`).
 *
 * Checked here because the kernel's answer to a long name is a bare "Numerical result out
 * of range".
 */
export function checkLinkName(operation: string, name: string): string {
  const problem = problemWith(name);
  if (problem === undefined) return name;
  throw new InvalidRequestError({ operation, subject: JSON.stringify(name), reason: problem });
}

function problemWith(name: string): string | undefined {
  const bytes = new TextEncoder().encode(name);
  if (bytes.length === 0) return "the name is empty";
  if (bytes.length >= IFNAMSIZ) {
    return `the name has ${bytes.length} bytes, the limit is ${IFNAMSIZ - 1}`;
  }
  if (name === "." || name === "..") return "the name is reserved";
  if (bytes.some(isForbidden)) return 'the name contains "/", ":", white space or a byte 0xa0';
  return undefined;
}

/** The kernel looks at bytes and counts 0xa0, Latin-1's hard space, as white space: no "à". */
function isForbidden(byte: number): boolean {
  return byte === 0 || byte === 0x2f || byte === 0x3a || byte === 0x20 || byte === 0xa0 ||
    (byte >= 0x09 && byte <= 0x0d);
}

/** Gives back `alias` if it fits. */
export function checkLinkAlias(operation: string, alias: string): string {
  const bytes = new TextEncoder().encode(alias).length;
  if (bytes < IFALIASZ) return alias;
  throw new InvalidRequestError({
    operation,
    subject: JSON.stringify(alias),
    reason: `the alias has ${bytes} bytes, the limit is ${IFALIASZ - 1}`,
  });
}
