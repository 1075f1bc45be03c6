/**
 * Making the database file, and replacing a damaged one.
 *
 * A new database is made under another name and gets its own when it is complete, so that a
 * file of length zero is never a beginning, always damage. All of this runs under the
 * exclusive lock.
 */

import { type BootClock } from "../sys/boot_clock.ts";
import { failpoint } from "../sys/failpoint.ts";
import { denoFiles } from "../sys/files.ts";
import { createPrivateFile, publishFile } from "../sys/private_path.ts";
import { openDatabase } from "./database.ts";
import { type StorePaths } from "./location.ts";
import { migrate } from "./schema.ts";
import { type FoundAddress, Store } from "./store.ts";

/** Makes an empty database, or one that begins with what the kernel uses. */
export function createDatabase(
  paths: StorePaths,
  options: { readonly bootClock: BootClock; readonly found?: readonly FoundAddress[] },
): void {
  const { bootClock, found = [] } = options;
  // What an interrupted call left behind; nobody else is here.
  for (const path of [paths.fresh, `${paths.fresh}-wal`, `${paths.fresh}-shm`]) {
    denoFiles.remove(path);
  }
  createPrivateFile(paths.fresh);
  {
    using db = openDatabase(paths.fresh);
    migrate(db);
    db.transaction(() => new Store(db, { bootClock, close: () => {} }).setFound(found));
  }
  failpoint("store.create.complete");
  publishFile(paths.fresh, paths.database);
}

/** How a damaged database was replaced. */
export interface Rebuild {
  /** Where the damaged file is kept; absent if there was none. */
  readonly kept: string | undefined;
  /** How many addresses the kernel uses. */
  readonly found: number;
}

/**
 * Replaces the database by one that holds what the kernel uses, and keeps the old file.
 *
 * The mark `paths.rebuild` is there from before the first change until after the last, so
 * that a call that finds it after a crash starts over: a missing database is then not
 * mistaken for a first use, nor a database that lost its log for a healthy one.
 */
export function replaceDatabase(
  paths: StorePaths,
  options: {
    readonly bootClock: BootClock;
    readonly found: readonly FoundAddress[];
    readonly suffix: string;
  },
): Rebuild {
  const { bootClock, found, suffix } = options;
  denoFiles.writeAtomic(paths.rebuild, "", { mode: 0o600 });
  failpoint("store.rebuild.marked");
  let kept: string | undefined;
  for (const path of [paths.database, ...paths.companions]) {
    if (denoFiles.stat(path) === undefined) continue;
    denoFiles.rename(path, `${path}.damaged-${suffix}`);
    kept ??= `${path}.damaged-${suffix}`;
    failpoint("store.rebuild.moved");
  }
  createDatabase(paths, { bootClock, found });
  failpoint("store.rebuild.created");
  denoFiles.remove(paths.rebuild);
  return { kept, found: found.length };
}
