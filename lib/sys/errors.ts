/**
 * The base of every error this program throws on purpose.
 *
 * An error is data: what was attempted, on what, why it failed and what helps.
 * The message is made from these parts in one place, so that a person reads the
 * same sentence in a log, in `kubectl describe pod` and on the terminal.
 */

/** What a {@linkcode HeadcniError} is made of. */
export interface ErrorParts {
  /** What was attempted, as a verb phrase: `"read file"`, `"add route"`. */
  readonly operation: string;
  /** What it was attempted on: a path, an address, an interface, a config key. */
  readonly subject?: string;
  /** Why it failed, without a final period. */
  readonly reason: string;
  /** What a person can do about it, as a sentence or a command to type. */
  readonly remedy?: string;
  /** The error that caused this one. */
  readonly cause?: unknown;
}

/**
 * An expected failure: operation, subject, reason and remedy as separate fields.
 *
 * Each folder of `lib/` subclasses it for the failures callers must tell apart.
 * Anything that is not a `HeadcniError` is a bug in this program.
 *
 * @example
 * ```ts
 * import { HeadcniError } from "./errors.ts";
 * import { assertEquals } from "@std/assert";
 *
 * class RouteError extends HeadcniError {
 *   override readonly name = "RouteError";
 * }
 *
 * const error = new RouteError({
 *   operation: "add route",
 *   subject: "10.0.0.0/8",
 *   reason: "gateway unreachable",
 * });
 * assertEquals(error.message, "Cannot add route 10.0.0.0/8: gateway unreachable");
 * assertEquals(error.name, "RouteError");
 * ```
 */
export class HeadcniError extends Error {
  // Spelled out in each class: the bundler renames classes, so `new.target.name` would print `t`.
  override readonly name: string = "HeadcniError";
  readonly operation: string;
  readonly subject: string | undefined;
  readonly reason: string;
  readonly remedy: string | undefined;

  constructor(parts: ErrorParts) {
    const what = parts.subject === undefined
      ? parts.operation
      : `${parts.operation} ${parts.subject}`;
    super(
      `Cannot ${what}: ${parts.reason}`,
      parts.cause === undefined ? undefined : { cause: parts.cause },
    );
    this.operation = parts.operation;
    this.subject = parts.subject;
    this.reason = parts.reason;
    this.remedy = parts.remedy;
  }
}

/** Causes deeper than this are not followed: an error may, by mistake, cause itself. */
const MAX_CAUSES = 10;

/** Of the errors collected in one, this many are told; the rest are counted. */
const MAX_COLLECTED = 10;

/**
 * The message of `error` and of its causes, outermost first.
 *
 * An `AggregateError` tells what it collected in parentheses. A `SuppressedError` (cleaning
 * up failed while another error was on its way) tells the other error first: it is the one
 * that explains why anything was cleaned up. A cause the message before it already quotes
 * is left out.
 *
 * @example
 * ```ts
 * import { causeChain } from "./errors.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const error = new Error("Cannot open store", { cause: new Error("disk full") });
 * assertEquals(causeChain(error), ["Cannot open store", "disk full"]);
 * ```
 */
export function causeChain(error: unknown): string[] {
  return chain(error, MAX_CAUSES);
}

/** `error` as one line for logs: its message and those of its causes, joined by `: `. */
export function describeError(error: unknown): string {
  return causeChain(error).join(": ");
}

function chain(error: unknown, depth: number): string[] {
  if (depth <= 0) return ["…"];
  const messages: string[] = [];
  let current = error;
  for (let step = 0; step < depth && current !== undefined && current !== null; step++) {
    const message = ownMessage(current, depth - step - 1);
    if (messages.at(-1)?.includes(message) !== true) messages.push(message);
    current = current instanceof Error ? current.cause : undefined;
  }
  return messages;
}

function ownMessage(error: unknown, depth: number): string {
  if (error instanceof SuppressedError) {
    const first = chain(error.suppressed, depth).join(": ");
    return `${first} (cleaning up failed too: ${chain(error.error, depth).join(": ")})`;
  }
  if (error instanceof AggregateError) {
    const told = error.errors.slice(0, MAX_COLLECTED).map((one) => chain(one, depth).join(": "));
    const untold = error.errors.length - told.length;
    if (untold > 0) told.push(`${untold} more`);
    return `${error.message || error.name} (${told.join("; ")})`;
  }
  if (error instanceof Error) return error.message || error.name;
  return typeof error === "object" ? "an object that is no error was thrown" : String(error);
}
