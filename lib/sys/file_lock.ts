/** Locks between processes: flock(2) on a file, given up by the kernel when its holder dies. */

import { withTimeLimit } from "./clock.ts";
import { fileError } from "./file_error.ts";
import { closeDescriptor, cString, intBytes, libc } from "./libc.ts";

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
  const free = Deno.build.os === "linux" ? tryLock(path, mode) : undefined;
  if (free !== undefined) return free;
  let file: Deno.FsFile;
  try {
    file = Deno.openSync(path, { read: true, write: true, create: true, mode: 0o600 });
  } catch (error) {
    throw fileError("lock file", path, error);
  }
  const locked = file.lock(mode === "exclusive");
  try {
    await withTimeLimit(timeoutMs, () => locked, { operation: "lock file", subject: path });
    return file;
  } catch (error) {
    // A thread still waits inside flock(2). What it gets there nobody wants any more: kept, it
    // would shut out our own next attempt.
    const close = () => file.close();
    locked.then(close, close);
    throw error;
  }
}

/** fcntl.h and sys/file.h; the same on all machines we build for. */
const O_RDWR = 0o2;
const O_CREAT = 0o100;
const O_CLOEXEC = 0o2000000;
const LOCK = { shared: 1, exclusive: 2 } as const;
const LOCK_NB = 4;

/**
 * The lock, if nobody is in the way: the usual case, and without the thread that Deno starts
 * for a lock it waits for. `undefined` for anything else, errors included: the way with waiting
 * meets them again and says which.
 */
function tryLock(path: string, mode: LockFileOptions["mode"]): HeldLock | undefined {
  const { symbols } = libc();
  const fd = symbols.open(cString(path), O_RDWR | O_CREAT | O_CLOEXEC, intBytes(0o600));
  if (fd < 0) return undefined;
  if (symbols.flock(fd, intBytes(LOCK[mode] | LOCK_NB)) === 0) {
    return { [Symbol.dispose]: () => closeDescriptor(fd) };
  }
  closeDescriptor(fd);
  return undefined;
}
