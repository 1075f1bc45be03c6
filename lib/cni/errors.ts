/** Failures of the CNI call itself. Their numbers are given in `error_code.ts` only. */

import { HeadcniError } from "../sys/errors.ts";

/** `CNI_*` variables are missing or have values we cannot act on. */
export class EnvironmentError extends HeadcniError {
  override readonly name = "EnvironmentError";

  /** `variables` are the names a caller has to look at. */
  constructor(readonly variables: readonly string[], reason: string) {
    super({ operation: "use environment variable", subject: variables.join(", "), reason });
  }
}

/** Standard input could not be read. */
export class InputError extends HeadcniError {
  override readonly name = "InputError";
}

/** Text that should be JSON is not, or is JSON of another kind. */
export class DecodeError extends HeadcniError {
  override readonly name = "DecodeError";
}

/** The caller speaks a version of the specification that this verb does not know. */
export class VersionError extends HeadcniError {
  override readonly name = "VersionError";
}

/** A result that cannot be read, or cannot be said in the version asked for. */
export class ResultError extends HeadcniError {
  override readonly name = "ResultError";
}

/** STATUS: ADD would not work now. */
export class NotReadyError extends HeadcniError {
  override readonly name = "NotReadyError";
}

/** What a {@linkcode DelegateError} is made of. */
export interface DelegateErrorParts {
  /** Type of the plugin, as the configuration names it. */
  readonly plugin: string;
  readonly reason: string;
  readonly code?: number | undefined;
  readonly details?: string | undefined;
  readonly remedy?: string | undefined;
  /** @default {true} */
  readonly mayHaveRun?: boolean;
  readonly cause?: unknown;
}

/** Another plugin failed; its own error goes on to the runtime with its own number. */
export class DelegateError extends HeadcniError {
  override readonly name = "DelegateError";
  /** The number the other plugin gave, if it gave one. */
  readonly code: number | undefined;
  readonly details: string | undefined;
  /** Whether it may have done something: false when it could not even be started. */
  readonly mayHaveRun: boolean;
  readonly #parts: DelegateErrorParts;

  constructor(parts: DelegateErrorParts) {
    const { plugin, reason, code, details, remedy, mayHaveRun = true, cause } = parts;
    super({
      operation: "use plugin",
      subject: plugin,
      reason,
      cause,
      ...(remedy === undefined ? {} : { remedy }),
    });
    this.code = code;
    this.details = details;
    this.mayHaveRun = mayHaveRun;
    this.#parts = parts;
  }

  /** The same error with more to tell. */
  withDetail(detail: string): DelegateError {
    const details = this.details === undefined ? detail : `${this.details}; ${detail}`;
    return new DelegateError({ ...this.#parts, details });
  }
}

/** The file that says which subnet the node has is missing, or something in it is. */
export class SubnetFileError extends HeadcniError {
  override readonly name = "SubnetFileError";

  constructor(
    path: string,
    /** All that is wrong; empty if there is no such file. */
    readonly problems: readonly string[],
    cause?: unknown,
  ) {
    super({
      operation: "use subnet file",
      subject: path,
      reason: problems.length === 0 ? "it does not exist" : problems.join("; "),
      remedy: "Start headcni daemon, which writes it; or name another by subnetFile",
      cause,
    });
  }

  /** Whether trying again later may help. */
  get isAbsent(): boolean {
    return this.problems.length === 0;
  }
}

/** The attachment was made already, and not by this call. */
export class AttachmentExistsError extends HeadcniError {
  override readonly name = "AttachmentExistsError";
}

/** The container already has an interface of the name asked for. */
export class InterfaceExistsError extends HeadcniError {
  override readonly name = "InterfaceExistsError";

  constructor(ifname: string, cause?: unknown) {
    super({
      operation: "create interface",
      subject: ifname,
      reason: "the container has one of that name",
      remedy: "Call DEL for the attachment that made it, or ask for another name",
      cause,
    });
  }
}

/** The namespace of the container is the one this program runs in. */
export class OwnNetnsError extends HeadcniError {
  override readonly name = "OwnNetnsError";
}

/** CHECK found the attachment to be other than it should be. */
export class CheckError extends HeadcniError {
  override readonly name = "CheckError";

  constructor(subject: string, readonly differences: readonly string[]) {
    super({
      operation: "confirm",
      subject,
      reason: differences.join("; "),
      remedy: "Start the pod anew",
    });
  }
}

/** Parts of an attachment could not be removed; the call can be repeated. */
export class RemoveError extends HeadcniError {
  override readonly name = "RemoveError";
}
