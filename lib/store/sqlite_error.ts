/**
 * From what SQLite says to a {@linkcode StoreError}.
 *
 * Deno's `node:sqlite` gives no result code with an error, only the text of
 * sqlite3_errmsg(). For the failures told apart here that is the fixed text of
 * sqlite3_errstr(), which has not changed since SQLite 3.0; a test provokes each of them.
 */

import { StoreError, type StoreErrorKind } from "./errors.ts";

interface Meaning {
  readonly kind: StoreErrorKind;
  readonly reason: string;
  readonly remedy?: (path: string) => string;
}

/** Text of sqlite3_errstr() → what it means here. */
const MEANINGS: readonly (readonly [text: string, meaning: Meaning])[] = [
  ["database is locked", { // SQLITE_BUSY
    kind: "Busy",
    reason: "another process holds its lock",
    remedy: (path) => `See who: fuser -v ${path}`,
  }],
  ["database table is locked", { kind: "Busy", reason: "another process holds its lock" }],
  ["database disk image is malformed", { // SQLITE_CORRUPT
    kind: "Corrupt",
    reason: "its content is damaged",
  }],
  ["file is not a database", { kind: "Corrupt", reason: "it is not a database" }], // SQLITE_NOTADB
  ["database or disk is full", { // SQLITE_FULL
    kind: "NoSpace",
    reason: "no space is left on the device",
    remedy: (path) => `Free space or inodes where ${path} is: df -h; df -i`,
  }],
  ["attempt to write a readonly database", { // SQLITE_READONLY
    kind: "ReadOnly",
    reason: "it cannot be written",
    remedy: (path) => `Make its file system writable: findmnt -T ${path}; lsattr -d ${path}`,
  }],
  ["unable to open database file", { // SQLITE_CANTOPEN
    kind: "Failed",
    reason: "it cannot be opened",
    remedy: (path) => `Look at its directory: namei -l ${path}`,
  }],
  ["disk I/O error", { // SQLITE_IOERR
    kind: "Failed",
    reason: "the disk answers with an input/output error",
    remedy: () => "See what the kernel says about the disk: dmesg --level=err,warn",
  }],
];

/**
 * `error`, thrown by SQLite during `operation` on the database at `path`, as a
 * {@linkcode StoreError}. What SQLite did not throw is thrown on as it is.
 */
export function sqliteError(operation: string, path: string, error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  if (!isSqliteError(error)) throw error;
  const meaning = MEANINGS.find(([text]) => error.message.startsWith(text))?.[1];
  const remedy = meaning?.remedy?.(path);
  return new StoreError({
    operation,
    subject: path,
    kind: meaning?.kind ?? "Failed",
    reason: meaning?.reason ?? error.message,
    cause: error,
    ...(remedy === undefined ? {} : { remedy }),
  });
}

function isSqliteError(error: unknown): error is Error {
  return error instanceof Error && "code" in error && error.code === "ERR_SQLITE_ERROR";
}
