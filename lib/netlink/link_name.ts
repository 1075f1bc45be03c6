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
  const bytes = new TextEncoder().encode(name).length;
  const problem = name === ""
    ? "the name is empty"
    : bytes >= IFNAMSIZ
    ? `the name has ${bytes} bytes, the limit is ${IFNAMSIZ - 1}`
    : name === "." || name === ".."
    ? "the name is reserved"
    : /[/:\s\0]/.test(name)
    ? 'the name contains "/", ":" or white space'
    : undefined;
  if (problem === undefined) return name;
  throw new InvalidRequestError({ operation, subject: JSON.stringify(name), reason: problem });
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
