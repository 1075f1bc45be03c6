/** Why the store could not be used, in terms a caller can act on. */

import { type ErrorParts, HeadcniError } from "../sys/errors.ts";

/**
 * - `Busy`: others held the lock for too long; trying again later helps.
 * - `Corrupt`: the content is not a database of ours any more.
 * - `NewerSchema`: a newer release of this program wrote it.
 * - `NoSpace`: the disk is full.
 * - `ReadOnly`: the file system or the file cannot be written.
 * - `Refused`: owner, mode or kind of a path is not what it has to be.
 * - `Failed`: anything else the system or SQLite answers.
 */
export type StoreErrorKind =
  | "Busy"
  | "Corrupt"
  | "NewerSchema"
  | "NoSpace"
  | "ReadOnly"
  | "Refused"
  | "Failed";

/** The store could not be opened, read or written. */
export class StoreError extends HeadcniError {
  override readonly name = "StoreError";
  readonly kind: StoreErrorKind;

  constructor(parts: ErrorParts & { readonly kind: StoreErrorKind }) {
    super(parts);
    this.kind = parts.kind;
  }
}
