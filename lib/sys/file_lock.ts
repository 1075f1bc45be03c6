/** Locks between processes: flock(2) on a file, given up by the kernel when its holder dies. */

import { withDeadline } from "./clock.ts";
import { fileError } from "./file_error.ts";

/** A lock that is held until it is disposed of or the process ends. */
export type HeldLock = Disposable;

/** Options for {@linkcode lockFile}. */
export interface LockFileOptions {
  /** One holder alone, or any number of holders that exclude only those. */
  readonly mode: "exclusive" | "shared";
  /** How long to wait for the others. */
  readonly timeoutMs: number;
}

/**
 * Waits for a lock on the file `path`, which is created with mode 0600 if it is missing.
 *
 * @throws {DeadlineError} if others held it for `timeoutMs`.
 * @throws {FileError} if the file cannot be opened.
 */
export async function lockFile(path: string, options: LockFileOptions): Promise<HeldLock> {
  const { mode, timeoutMs } = options;
  let file: Deno.FsFile;
  try {
    file = Deno.openSync(path, { read: true, write: true, create: true, mode: 0o600 });
  } catch (error) {
    throw fileError("lock file", path, error);
  }
  const locked = file.lock(mode === "exclusive");
  try {
    await withDeadline(timeoutMs, () => locked, { operation: "lock file", subject: path });
    return file;
  } catch (error) {
    // A thread still waits inside flock(2). What it gets there nobody wants any more: kept, it
    // would shut out our own next attempt.
    const close = () => file.close();
    locked.then(close, close);
    throw error;
  }
}
