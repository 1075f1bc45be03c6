/**
 * One connection to an SQLite file: statements kept, transactions, typed errors.
 *
 * The settings, each for a reason:
 *
 * - `journal_mode=WAL`: readers (`headcni ipam list`, the daemon) never wait for a writer.
 * - `synchronous=FULL`: a transaction that has returned survives a power loss.
 * - `busy_timeout`: a second belt; our own writers queue at a lock file (`open_store.ts`).
 * - `temp_store=MEMORY`: nothing is ever written to /tmp.
 * - `wal_autocheckpoint`: a one-shot process reads the whole log when it opens, so the log is
 *   kept short: about eight allocations.
 */

import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { sqliteError } from "./sqlite_error.ts";

/** A row as SQLite returns it. */
export type Row = Readonly<Record<string, unknown>>;

/** A value bound to a statement. */
export type Value = SQLInputValue;

/** Options for {@linkcode openDatabase}. */
export interface DatabaseOptions {
  /** How long SQLite itself waits for a lock. @default {5000} */
  readonly busyTimeoutMs?: number;
  /**
   * When to wait for the disk. `OFF` is for tests that count on no power loss.
   *
   * @default {"FULL"}
   */
  readonly synchronous?: "FULL" | "OFF";
}

/** An open database. */
export class Database implements Disposable {
  readonly path: string;
  readonly #connection: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  /** A rehearsal is under way: transactions inside are parts of it. */
  #rehearsing = false;

  /** Use {@linkcode openDatabase}. */
  constructor(path: string, connection: DatabaseSync) {
    this.path = path;
    this.#connection = connection;
  }

  /** Runs statements that return nothing. */
  exec(sql: string): void {
    this.#attempt(() => this.#connection.exec(sql));
  }

  /** The first row, if there is one. */
  get(sql: string, ...values: Value[]): Row | undefined {
    return this.#attempt(() => this.#prepared(sql).get(...values));
  }

  /** All rows. */
  all(sql: string, ...values: Value[]): Row[] {
    return this.#attempt(() => this.#prepared(sql).all(...values));
  }

  /** Changes rows; returns how many, and the rowid of the last one inserted. */
  run(sql: string, ...values: Value[]): { readonly changes: number; readonly rowid: number } {
    const { changes, lastInsertRowid } = this.#attempt(() => this.#prepared(sql).run(...values));
    return { changes: Number(changes), rowid: Number(lastInsertRowid) };
  }

  /**
   * Runs `work` as one transaction: all of it is durable when this returns, or none.
   *
   * IMMEDIATE, because a transaction that reads first and writes later could find that
   * another has written in between, and would have to start again.
   */
  transaction<T>(work: () => T): T {
    if (this.#rehearsing) return work();
    this.exec("BEGIN IMMEDIATE");
    let result: T;
    try {
      result = work();
      this.exec("COMMIT");
    } catch (error) {
      this.#rollback();
      throw error;
    }
    return result;
  }

  /** Runs `work` and undoes what it changed, whatever transactions it makes. */
  rehearse<T>(work: () => T): T {
    this.exec("BEGIN IMMEDIATE");
    this.#rehearsing = true;
    try {
      return work();
    } finally {
      this.#rehearsing = false;
      this.#rollback();
    }
  }

  /** Ends the use of the file; the last one to close it folds the log into it. */
  [Symbol.dispose](): void {
    this.#attempt(() => this.#connection.close());
  }

  #rollback(): void {
    try {
      this.#connection.exec("ROLLBACK");
    } catch {
      // SQLite has rolled back already, as it does when the disk is full.
    }
  }

  #prepared(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#connection.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  #attempt<T>(action: () => T): T {
    try {
      return action();
    } catch (error) {
      throw sqliteError("use store", this.path, error);
    }
  }
}

/** Opens the database file at `path`, which exists, or `:memory:`. @throws {StoreError} */
export function openDatabase(path: string, options: DatabaseOptions = {}): Database {
  const { busyTimeoutMs = 5000, synchronous = "FULL" } = options;
  let connection: DatabaseSync | undefined;
  try {
    connection = new DatabaseSync(path);
    connection.exec(
      `PRAGMA busy_timeout = ${busyTimeoutMs}; PRAGMA temp_store = MEMORY;` +
        `PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous};` +
        "PRAGMA wal_autocheckpoint = 64; PRAGMA foreign_keys = ON",
    );
    return new Database(path, connection);
  } catch (error) {
    connection?.close();
    throw sqliteError("open store", path, error);
  }
}
