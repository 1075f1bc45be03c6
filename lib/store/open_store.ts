/**
 * Opening the store: the lock, the checks, the repair; and running work on it with retries.
 *
 * | what is there                        | what happens                                        |
 * | ------------------------------------ | --------------------------------------------------- |
 * | nothing                              | a database is made, whole or not at all             |
 * | damaged, or of length zero           | kept aside, made anew from what the kernel uses     |
 * | written by a newer release           | refused (`NewerSchema`)                             |
 * | a link, another's, writable by others| refused (`Refused`); readable by others: tightened  |
 * | disk full, read-only file system     | `NoSpace`, `ReadOnly`; nothing is changed           |
 *
 * Writers queue at the lock file. SQLite's own wait is a poll with growing pauses, which
 * under a storm of pods makes late-comers pass those who wait; flock(2) queues, and it lets a
 * damaged file be replaced while nobody else has it open.
 */

import { type BootClock, kernelBootClock } from "../sys/boot_clock.ts";
import { type Clock, DeadlineError, systemClock } from "../sys/clock.ts";
import { failpoint } from "../sys/failpoint.ts";
import { denoFiles } from "../sys/files.ts";
import { FileError } from "../sys/file_error.ts";
import { type HeldLock, lockFile } from "../sys/file_lock.ts";
import { findLockHolder } from "../sys/lock_holder.ts";
import {
  checkPrivateFile,
  checkWritable,
  ensurePrivateDirectory,
  listDirectory,
} from "../sys/private_path.ts";
import { createDatabase, type Rebuild, replaceDatabase } from "./create_store.ts";
import { type DatabaseOptions, openDatabase } from "./database.ts";
import { StoreError } from "./errors.ts";
import { type StorePaths, storePaths } from "./location.ts";
import { migrate } from "./schema.ts";
import { type FoundAddress, Store } from "./store.ts";

/** Options for {@linkcode withStore} and {@linkcode readStore}. */
export interface StoreOptions {
  /** The data directory; see `dataDirectory`. */
  readonly directory: string;
  /** What the kernel uses, asked only to replace a damaged database. */
  readonly observe: () => Promise<readonly FoundAddress[]>;
  /** Told when a damaged database was replaced. */
  readonly onRebuild?: (rebuild: Rebuild, cause: StoreError) => void;
  /**
   * Fold the log into the database when done. A one-shot plugin leaves it: that is two waits
   * for the disk and two deletions it does not have to pay, and the next one reads the log.
   *
   * @default {true}
   */
  readonly checkpoint?: boolean;
  /** How long to wait for others, all attempts together. @default {20_000} */
  readonly patienceMs?: number;
  /** @default {kernelBootClock} */
  readonly bootClock?: BootClock;
  /** @default {systemClock} */
  readonly clock?: Pick<Clock, "now" | "monotonicMs" | "sleep">;
  /** @default {{}} */
  readonly database?: DatabaseOptions;
}

const DEFAULT_PATIENCE_MS = 20_000;

/** SQLite's own wait stops the whole program: other timers, and a signal, come after it. */
const MAX_BUSY_MS = 5000;

/** The first pause before another attempt; each is twice as long as the one before. */
const RETRY_PAUSE_MS = 50;

/**
 * Runs `work` on the store, alone among all processes. What it changes inside
 * `store.transaction` is durable when that returns.
 *
 * A lock that others hold is waited for, as long as `patienceMs` allows; a damaged database is
 * replaced, once.
 *
 * @throws {StoreError}
 */
export async function withStore<T>(options: StoreOptions, work: (store: Store) => T): Promise<T> {
  const { clock = systemClock, patienceMs = DEFAULT_PATIENCE_MS } = options;
  const endMs = clock.monotonicMs() + patienceMs;
  let rebuilt = false;
  for (let pauseMs = RETRY_PAUSE_MS;; pauseMs *= 2) {
    const left = { ...options, patienceMs: Math.max(0, endMs - clock.monotonicMs()) };
    try {
      return await useOnce(left, work);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      if (error.kind === "Corrupt" && !rebuilt) {
        rebuilt = true;
        await rebuildStore(left, error);
      } else if (error.kind === "Busy" && clock.monotonicMs() + pauseMs < endMs) {
        await clock.sleep(pauseMs);
      } else throw error;
    }
  }
}

/** SQLite waits no longer than the caller. */
function databaseOptions(
  { database, patienceMs = DEFAULT_PATIENCE_MS }: StoreOptions,
): DatabaseOptions {
  return { busyTimeoutMs: Math.min(MAX_BUSY_MS, Math.ceil(patienceMs)), ...database };
}

/**
 * Runs `work` on the store as it is, beside any writer; `undefined` if there is no store.
 * Creates and repairs nothing.
 *
 * @throws {StoreError}
 */
export function readStore<T>(options: StoreOptions, work: (store: Store) => T): T | undefined {
  const { bootClock = kernelBootClock, checkpoint = true } = options;
  const paths = storePaths(options.directory);
  if (inspect(paths) === undefined) return undefined;
  const db = openDatabase(paths.database, databaseOptions(options));
  try {
    migrate(db);
    db.exec("BEGIN"); // one snapshot for all that is read
    try {
      return work(new Store(db, { bootClock, close: () => {} }));
    } finally {
      db.exec("COMMIT");
    }
  } finally {
    if (checkpoint) db[Symbol.dispose]();
  }
}

/** Options of {@linkcode probeStore}. */
export interface ProbeOptions extends Pick<StoreOptions, "directory"> {
  /** Why no entry can be made in a directory; the system call is not for this folder. */
  readonly writeObstacle: (directory: string) => string | undefined;
}

/**
 * Finds out whether the store could be written, without writing: what STATUS asks. Where there is
 * none yet, the first ADD has to be able to make it, and perhaps its directory.
 *
 * @throws {StoreError} `ReadOnly`, `Refused`, ….
 */
export function probeStore({ directory, writeObstacle }: ProbeOptions): void {
  const paths = storePaths(directory);
  if (inspect(paths) !== undefined) return attemptFiles(() => checkWritable(paths.database));
  const existing = nearestExisting(directory);
  const reason = writeObstacle(existing);
  if (reason === undefined) return;
  throw new StoreError({
    operation: "create store",
    subject: existing === directory ? directory : `${directory} below ${existing}`,
    kind: "ReadOnly",
    reason,
    remedy: `Make its file system writable: findmnt -T ${existing}; lsattr -d ${existing}`,
  });
}

function nearestExisting(path: string): string {
  if (path === "/" || denoFiles.stat(path) !== undefined) return path;
  return nearestExisting(path.replace(/\/[^/]*$/, "") || "/");
}

/** Whether there is a store to look at, or the remains of one. */
export function hasStore(options: Pick<StoreOptions, "directory">): boolean {
  const { directory, database, companions, rebuild } = storePaths(options.directory);
  const names = listDirectory(directory);
  return [database, ...companions, rebuild]
    .some((path) => names.has(path.slice(directory.length + 1)));
}

async function useOnce<T>(options: StoreOptions, work: (store: Store) => T): Promise<T> {
  const { bootClock = kernelBootClock, checkpoint = true } = options;
  const paths = storePaths(options.directory);
  using _lock = await lockStore(paths, options);
  failpoint("store.locked");
  const size = inspect(paths);
  if (size === undefined) attemptFiles(() => createDatabase(paths, { bootClock }));
  const db = openDatabase(paths.database, databaseOptions(options));
  failpoint("store.opened");
  using store = new Store(db, {
    bootClock,
    close: () => {
      if (checkpoint) db[Symbol.dispose]();
    },
  });
  migrate(db);
  return work(store);
}

async function rebuildStore(options: StoreOptions, cause: StoreError): Promise<void> {
  const { bootClock = kernelBootClock, clock = systemClock } = options;
  const paths = storePaths(options.directory);
  const found = await options.observe();
  using _lock = await lockStore(paths, options);
  // Another process may have replaced it while we waited for the lock.
  if (isSound(paths, options)) return;
  const suffix = new Date(clock.now()).toISOString().replace(/[:.]/g, "-");
  const rebuild = attemptFiles(() => replaceDatabase(paths, { bootClock, found, suffix }));
  options.onRebuild?.(rebuild, cause);
}

function isSound(paths: StorePaths, options: StoreOptions): boolean {
  try {
    if (inspect(paths) === undefined) return false;
    using db = openDatabase(paths.database, databaseOptions(options));
    migrate(db);
    return new Store(db, { bootClock: kernelBootClock, close: () => {} }).verify().length === 0;
  } catch (error) {
    if (error instanceof StoreError && error.kind === "Corrupt") return false;
    throw error;
  }
}

async function lockStore(paths: StorePaths, options: StoreOptions): Promise<HeldLock> {
  const { patienceMs = DEFAULT_PATIENCE_MS } = options;
  attemptFiles(() => {
    ensurePrivateDirectory(paths.directory);
    checkPrivateFile(paths.lock);
  });
  try {
    return await lockFile(paths.lock, { mode: "exclusive", timeoutMs: patienceMs });
  } catch (error) {
    if (!(error instanceof DeadlineError)) throw asStoreError(error);
    const holder = findLockHolder(paths.lock);
    const who = holder === undefined
      ? "another process"
      : `process ${holder.pid}${holder.program === undefined ? "" : ` (${holder.program})`}`;
    throw new StoreError({
      operation: "lock store",
      subject: paths.directory,
      kind: "Busy",
      reason: `${who} holds its lock, and did not give it up for ${Math.round(patienceMs)} ms`,
      remedy: `See who: fuser -v ${paths.lock}`,
      cause: error,
    });
  }
}

/** The size of the database; `undefined` if there is none. @throws {StoreError} if unusable. */
function inspect(paths: StorePaths): number | undefined {
  // Listed instead of asked one by one: Deno says that a file is missing by an exception, and
  // the first one of a process costs as much as the allocation itself.
  const names = attemptFiles(() => listDirectory(paths.directory));
  const has = (path: string) => names.has(path.slice(paths.directory.length + 1));
  const [size, log] = attemptFiles(() =>
    [paths.database, ...paths.companions].map((path) =>
      has(path) ? checkPrivateFile(path) : undefined
    )
  );
  const reason = has(paths.rebuild)
    ? "replacing a damaged one was interrupted"
    : size === 0
    ? "the file is empty"
    : size === undefined && log !== undefined
    ? "its log is there, but not the file itself"
    : undefined;
  if (reason === undefined) return size;
  throw new StoreError({
    operation: "open store",
    subject: paths.database,
    kind: "Corrupt",
    reason,
    remedy: "headcni ipam check",
  });
}

function attemptFiles<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw asStoreError(error);
  }
}

/** A {@linkcode FileError} in the store's terms; anything else as it is. */
function asStoreError(error: unknown): unknown {
  if (!(error instanceof FileError)) return error;
  const { operation, path, reason, remedy, code } = error;
  const kind = code === "NoSpace" || code === "ReadOnly"
    ? code
    : code === "PermissionDenied" || code === "NotDirectory"
    ? "Refused"
    : "Failed";
  const parts = { operation, subject: path, reason, kind, cause: error.cause } as const;
  return new StoreError({ ...parts, ...(remedy === undefined ? {} : { remedy }) });
}
