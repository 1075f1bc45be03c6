/** Where the store is. */

import { StoreError } from "./errors.ts";

/** Where the plugins keep their state when nobody says otherwise. */
export const DEFAULT_DATA_DIR = "/var/lib/cni/headcni";

/** The environment variable that moves it. */
export const DATA_DIR_VARIABLE = "HEADCNI_DATA_DIR";

/** The names of the files of a store. */
export interface StorePaths {
  readonly directory: string;
  readonly database: string;
  /** SQLite's own files beside the database. */
  readonly companions: readonly string[];
  /** Writers queue here. */
  readonly lock: string;
  /** A database in the making. */
  readonly fresh: string;
  /** Exists while a damaged database is being replaced. */
  readonly rebuild: string;
}

/**
 * The data directory: the configuration's, else the environment's, else the default.
 *
 * @throws {StoreError} if it is not an absolute path.
 */
export function dataDirectory(
  configured: string | undefined,
  env: (name: string) => string | undefined,
): string {
  const directory = configured || env(DATA_DIR_VARIABLE) || DEFAULT_DATA_DIR;
  if (directory.startsWith("/") && !directory.includes("\0")) {
    return directory.replace(/\/+$/, "") || "/";
  }
  throw new StoreError({
    operation: "use data directory",
    subject: JSON.stringify(directory),
    kind: "Refused",
    reason: "it is not an absolute path",
    remedy: `Correct "dataDir" in the network configuration, or ${DATA_DIR_VARIABLE}`,
  });
}

/** The files of the store in `directory`. */
export function storePaths(directory: string): StorePaths {
  const database = `${directory}/headcni.db`;
  return {
    directory,
    database,
    companions: [`${database}-wal`, `${database}-shm`],
    lock: `${directory}/headcni.lock`,
    fresh: `${directory}/.headcni.db.new`,
    rebuild: `${directory}/.headcni.db.rebuild`,
  };
}
