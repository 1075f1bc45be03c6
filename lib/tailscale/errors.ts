/** What can go wrong between this program and tailscaled. */

import { type ErrorParts, HeadcniError } from "../sys/errors.ts";

/**
 * - `NotRunning`: nobody listens at the socket.
 * - `Denied`: this user must not do it.
 * - `Unsupported`: this tailscaled has no such call: too old, or built without it.
 * - `NotFound`: it knows no such address.
 * - `Refused`: it says that the request is wrong.
 * - `Failed`: it tried and could not.
 * - `Broken`: it went away before the answer was complete.
 * - `BadAnswer`: its answer is not what this program understands.
 * - `Deadline`: no answer in time.
 */
export type LocalApiErrorKind =
  | "NotRunning"
  | "Denied"
  | "Unsupported"
  | "NotFound"
  | "Refused"
  | "Failed"
  | "Broken"
  | "BadAnswer"
  | "Deadline";

/** A call of tailscaled's LocalAPI that failed. */
export class LocalApiError extends HeadcniError {
  override readonly name = "LocalApiError";
  readonly kind: LocalApiErrorKind;
  /** HTTP status, if there was an answer. */
  readonly status: number | undefined;

  constructor(parts: ErrorParts & { kind: LocalApiErrorKind; status?: number }) {
    super(parts);
    this.kind = parts.kind;
    this.status = parts.status;
  }
}

/**
 * - `NotFound`: there is no tailscaled program on this machine.
 * - `Unusable`: there is one, but it does not run or is too old.
 * - `OtherTailscaled`: another one runs in the same network namespace.
 * - `Supervised`: another process of this program looks after ours.
 * - `NotReady`: it runs, but does not answer in time, or ended before it did.
 */
export type TailscaledErrorKind =
  | "NotFound"
  | "Unusable"
  | "OtherTailscaled"
  | "Supervised"
  | "NotReady";

/** tailscaled cannot be run here. */
export class TailscaledError extends HeadcniError {
  override readonly name = "TailscaledError";
  readonly kind: TailscaledErrorKind;

  constructor(parts: ErrorParts & { kind: TailscaledErrorKind }) {
    super(parts);
    this.kind = parts.kind;
  }
}
