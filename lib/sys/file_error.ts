/** File-system failures with a code to act on and a remedy to print. */

import { HeadcniError } from "./errors.ts";

/** Why a file operation failed. `Other` keeps its errno in the cause. */
export type FileErrorCode =
  | "AlreadyExists"
  | "Busy"
  | "CrossDevice"
  | "IsDirectory"
  | "LinkLoop"
  | "NameTooLong"
  | "NoSpace"
  | "NotDirectory"
  | "NotEmpty"
  | "NotFound"
  | "PermissionDenied"
  | "ReadOnly"
  | "TooManyOpenFiles"
  | "Other";

/** What a {@linkcode FileError} is made of. */
export interface FileErrorParts {
  readonly operation: string;
  readonly path: string;
  readonly code: FileErrorCode;
  readonly reason: string;
  readonly remedy?: string | undefined;
  readonly cause?: unknown;
}

/** A file operation that failed: which, on what path, and why as a code. */
export class FileError extends HeadcniError {
  override readonly name = "FileError";
  readonly path: string;
  readonly code: FileErrorCode;

  constructor(parts: FileErrorParts) {
    super({
      operation: parts.operation,
      subject: parts.path,
      reason: parts.reason,
      cause: parts.cause,
      ...(parts.remedy === undefined ? {} : { remedy: parts.remedy }),
    });
    this.path = parts.path;
    this.code = parts.code;
  }
}

/** errno(3) names, as Deno puts them into `error.code`. */
const CODES: Readonly<Record<string, FileErrorCode>> = {
  EACCES: "PermissionDenied",
  EBUSY: "Busy",
  EDQUOT: "NoSpace",
  EEXIST: "AlreadyExists",
  EISDIR: "IsDirectory",
  ELOOP: "LinkLoop",
  EMFILE: "TooManyOpenFiles",
  ENAMETOOLONG: "NameTooLong",
  ENFILE: "TooManyOpenFiles",
  ENOENT: "NotFound",
  ENOSPC: "NoSpace",
  ENOTDIR: "NotDirectory",
  ENOTEMPTY: "NotEmpty",
  EPERM: "PermissionDenied",
  EROFS: "ReadOnly",
  EXDEV: "CrossDevice",
};

const REASONS: Readonly<Record<Exclude<FileErrorCode, "Other">, string>> = {
  AlreadyExists: "it exists already",
  Busy: "it is in use",
  CrossDevice: "source and target are on different file systems",
  IsDirectory: "it is a directory",
  LinkLoop: "its symbolic links lead in a circle",
  NameTooLong: "its name is too long",
  NoSpace: "no space is left on the device",
  NotDirectory: "a part of its path is not a directory",
  NotEmpty: "the directory is not empty",
  NotFound: "it does not exist",
  PermissionDenied: "permission is denied",
  ReadOnly: "the file system is read-only",
  TooManyOpenFiles: "too many files are open",
};

/**
 * `error`, thrown by the runtime during `operation` on `path`, as a {@linkcode FileError}.
 *
 * What is no system error is thrown on as it is: it is a bug, not a state of the disk.
 */
export function fileError(operation: string, path: string, error: unknown): FileError {
  if (error instanceof FileError) return error;
  if (!(error instanceof Error)) throw error;
  const errno = "code" in error && typeof error.code === "string" ? error.code : undefined;
  if (errno === undefined) throw error;
  const code = CODES[errno] ?? "Other";
  const reason = code === "Other" ? `the system answers ${errno}` : REASONS[code];
  return new FileError({
    operation,
    path,
    code,
    reason,
    remedy: remedyFor(code, path),
    cause: error,
  });
}

function remedyFor(code: FileErrorCode, path: string): string | undefined {
  switch (code) {
    case "NoSpace":
      return `Free space or inodes where ${path} is: df -h; df -i`;
    case "PermissionDenied":
      return `Run as root, or check owners and modes: namei -l ${path}`;
    case "ReadOnly":
      return `Choose a path on a writable file system, or remount: findmnt -T ${path}`;
    case "TooManyOpenFiles":
      return "Raise the limit on open files: LimitNOFILE in the systemd unit, or ulimit -n";
    default:
      return undefined;
  }
}
