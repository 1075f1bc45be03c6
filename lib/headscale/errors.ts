/** What can go wrong between this program and Headscale. */

import { type ErrorParts, HeadcniError } from "../sys/errors.ts";

/**
 * - `Unreachable`: no connection, or it broke.
 * - `Deadline`: no answer in time.
 * - `Unauthorized`: the API key is wrong, expired or missing.
 * - `NotFound`: there is no such object.
 * - `Exists`: there is one already.
 * - `Refused`: the server says that the request is wrong or not allowed.
 * - `Failed`: the server tried and could not.
 * - `BadAnswer`: the answer is not what this program understands.
 * - `Unsupported`: this version of Headscale cannot do it.
 * - `NotOurs`: the object belongs to somebody else, and is left alone.
 */
export type HeadscaleErrorKind =
  | "Unreachable"
  | "Deadline"
  | "Unauthorized"
  | "NotFound"
  | "Exists"
  | "Refused"
  | "Failed"
  | "BadAnswer"
  | "Unsupported"
  | "NotOurs";

/** What a {@linkcode HeadscaleError} is made of. */
export interface HeadscaleErrorParts extends ErrorParts {
  readonly kind: HeadscaleErrorKind;
  /** HTTP status, if there was an answer. */
  readonly status?: number | undefined;
  /** The request was certainly not carried out. */
  readonly unsent?: boolean;
  /** How long the server asks to be left alone. */
  readonly retryAfterMs?: number | undefined;
}

/** A call of Headscale's API that failed. */
export class HeadscaleError extends HeadcniError {
  override readonly name = "HeadscaleError";
  readonly kind: HeadscaleErrorKind;
  readonly status: number | undefined;
  readonly unsent: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(parts: HeadscaleErrorParts) {
    super(parts);
    this.kind = parts.kind;
    this.status = parts.status;
    this.unsent = parts.unsent ?? false;
    this.retryAfterMs = parts.retryAfterMs;
  }
}

/** Whether `error` is a {@linkcode HeadscaleError} of `kind`. */
export function isHeadscaleError(
  error: unknown,
  kind: HeadscaleErrorKind,
): error is HeadscaleError {
  return error instanceof HeadscaleError && error.kind === kind;
}
