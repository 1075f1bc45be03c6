/** Range sets of a network: how they were configured last, and where each goes on. */

import { type IpAddress } from "../ip/address.ts";
import { addressKey, keyAddress } from "./address_key.ts";
import { type Database } from "./database.ts";

/** A range set as stored. */
export interface StoredPool {
  /** Index of the range set in the configuration. */
  readonly position: number;
  /** The configuration in its own words (JSON), to show and to allocate by hand. */
  readonly definition: string | undefined;
  /** The address given out last. */
  readonly cursor: IpAddress | undefined;
}

/** The range sets of one network. */
export class Pools {
  readonly #db: Database;
  readonly #network: number;

  constructor(db: Database, network: number) {
    this.#db = db;
    this.#network = network;
  }

  list(): StoredPool[] {
    return this.#db.all(
      "SELECT position, definition, cursor FROM pool WHERE network = ? ORDER BY position",
      this.#network,
    ).map((row) => ({
      position: Number(row.position),
      definition: typeof row.definition === "string" ? row.definition : undefined,
      cursor: row.cursor === null ? undefined : keyAddress(row.cursor),
    }));
  }

  /** Records how the range sets are configured; writes only what has changed. */
  define(definitions: readonly string[]): void {
    const stored = this.list();
    for (const [position, definition] of definitions.entries()) {
      if (stored.find((pool) => pool.position === position)?.definition === definition) continue;
      this.#db.run(
        "INSERT INTO pool (network, position, definition) VALUES (?, ?, ?)" +
          " ON CONFLICT DO UPDATE SET definition = excluded.definition",
        this.#network,
        position,
        definition,
      );
    }
    // The cursor stays: the runtime may add range sets for one pod and not for the next.
    const isGone = ({ position, definition }: StoredPool) =>
      position >= definitions.length && definition !== undefined;
    if (!stored.some(isGone)) return;
    const sql = "UPDATE pool SET definition = NULL WHERE network = ? AND position >= ?";
    this.#db.run(sql, this.#network, definitions.length);
  }

  /** Where range set `position` was last. */
  cursor(position: number): IpAddress | undefined {
    const sql = "SELECT cursor FROM pool WHERE network = ? AND position = ?";
    const cursor = this.#db.get(sql, this.#network, position)?.cursor;
    return cursor instanceof Uint8Array ? keyAddress(cursor) : undefined;
  }

  setCursor(position: number, address: IpAddress): void {
    this.#db.run(
      "INSERT INTO pool (network, position, cursor) VALUES (?, ?, ?)" +
        " ON CONFLICT DO UPDATE SET cursor = excluded.cursor",
      this.#network,
      position,
      addressKey(address),
    );
  }
}
