/** A command line that cannot be carried out as typed. */

import { closestString } from "@std/text/closest-string";
import { HeadcniError } from "../sys/errors.ts";

/** Wrong usage: exits with 2, and points at the help of the command it was about. */
export class UsageError extends HeadcniError {
  override readonly name = "UsageError";

  /** `subject` is what was typed, `reason` what is wrong with it. */
  constructor(subject: string, reason: string, suggestion?: string) {
    super({
      operation: "use",
      subject,
      reason,
      ...(suggestion === undefined ? {} : { remedy: `Did you mean ${suggestion}?` }),
    });
  }
}

/**
 * The candidate a person probably meant, `undefined` when none is near.
 *
 * @example
 * ```ts
 * import { nearest } from "./usage_error.ts";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(nearest("verson", ["version", "completion"]), "version");
 * assertEquals(nearest("frobnicate", ["version", "completion"]), undefined);
 * ```
 */
export function nearest(typed: string, candidates: readonly string[]): string | undefined {
  const near = candidates.filter((candidate) =>
    sharedStart(typed, candidate) >= 2 || isOneSlip(typed, candidate)
  );
  return near.length === 0 ? undefined : closestString(typed, near);
}

/** Letters both words begin with, dashes aside: people remember how a word starts. */
function sharedStart(left: string, right: string): number {
  const [a, b] = [left.replace(/^-+/, "").toLowerCase(), right.replace(/^-+/, "")];
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}

/** Whether the words have the same letters but for one: `halp`, `hlep`, `elp`. */
function isOneSlip(left: string, right: string): boolean {
  const rest = [...right.toLowerCase()];
  let missing = 0;
  for (const letter of left.toLowerCase()) {
    const at = rest.indexOf(letter);
    if (at < 0) missing++;
    else rest.splice(at, 1);
  }
  return Math.max(missing, rest.length) <= 1;
}
