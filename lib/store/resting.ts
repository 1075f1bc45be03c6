/**
 * Released addresses that rest before they are given out again.
 *
 * A peer may still hold connections to the pod that had the address. The end of the rest is
 * computed from the boot id and the time since boot (`lib/sys/boot_clock.ts`), so setting the
 * wall clock neither shortens nor prolongs it, and neither does a restart of this program.
 * After a restart of the machine every address has rested: its old user is gone with its
 * connections.
 *
 * The order of release is the order of `seq`. Releases are written inside transactions that
 * exclude each other and read the uptime inside, so it is the order of `released_ms` too, and
 * what has rested long enough is always a beginning of the queue.
 */

import { type Family, type IpAddress } from "../ip/address.ts";
import { type AddressRange } from "../ip/range.ts";
import { addressKey, keyAddress } from "./address_key.ts";
import { type Database, type Row } from "./database.ts";

/** An address at rest. */
export interface RestingAddress {
  readonly address: IpAddress;
  /** How long it has rested; `Infinity` when the machine has restarted since. */
  readonly restedMs: number;
}

/** What the queue needs to tell the time. */
export interface RestingMoment {
  readonly boot: number;
  /** Milliseconds since that boot. */
  readonly uptimeMs: () => number;
}

/** The resting addresses of one network. */
export class RestingAddresses {
  readonly #db: Database;
  readonly #network: number;
  readonly #moment: RestingMoment;

  constructor(db: Database, network: number, moment: RestingMoment) {
    this.#db = db;
    this.#network = network;
    this.#moment = moment;
  }

  add(address: IpAddress): void {
    this.#db.run(
      "INSERT INTO resting (network, family, address, boot, released_ms) VALUES (?, ?, ?, ?, ?)",
      this.#network,
      address.family,
      addressKey(address),
      this.#moment.boot,
      this.#moment.uptimeMs(),
    );
  }

  /** Ends the rest of `address`; returns whether it was at rest. */
  remove(address: IpAddress): boolean {
    const sql = "DELETE FROM resting WHERE network = ? AND address = ?";
    return this.#db.run(sql, this.#network, addressKey(address)).changes > 0;
  }

  /** The addresses of a family that have rested for `restMs`, longest first, at most `limit`. */
  rested(family: Family, options: { restMs: number; limit: number }): IpAddress[] {
    const head = (limit: number) => {
      const rows = this.#db.all(
        "SELECT address, boot, released_ms FROM resting WHERE network = ? AND family = ?" +
          " ORDER BY seq LIMIT ?",
        this.#network,
        family,
        limit,
      );
      const uptimeMs = rows.length === 0 ? 0 : this.#moment.uptimeMs();
      return rows.map((row) => this.#decode(row, uptimeMs));
    };
    const isRested = ({ restedMs }: RestingAddress) => restedMs >= options.restMs;
    // Most calls find the oldest still at rest: one row tells.
    if (!head(1).some(isRested)) return [];
    const rows = head(options.limit);
    const end = rows.findIndex((row) => !isRested(row));
    return (end === -1 ? rows : rows.slice(0, end)).map(({ address }) => address);
  }

  /** The address of `ranges` that rests the longest. */
  longest(ranges: readonly AddressRange[]): IpAddress | undefined {
    const family = ranges[0]?.family;
    if (family === undefined) return undefined;
    const places = ranges.map(() => "address BETWEEN ? AND ?").join(" OR ");
    // In the order of release, until one fits; left alone SQLite would sort all that fit.
    const row = this.#db.get(
      `SELECT address FROM resting INDEXED BY resting_by_family WHERE network = ? AND family = ? AND (${places})` +
        " ORDER BY seq LIMIT 1",
      this.#network,
      family,
      ...ranges.flatMap(({ start, end }) => [addressKey(start), addressKey(end)]),
    );
    return row && keyAddress(row.address);
  }

  /** All of them, longest first. */
  list(): RestingAddress[] {
    const uptimeMs = this.#moment.uptimeMs();
    return this.#db.all(
      "SELECT address, boot, released_ms FROM resting WHERE network = ? ORDER BY seq",
      this.#network,
    ).map((row) => this.#decode(row, uptimeMs));
  }

  #decode(row: Row, uptimeMs: number): RestingAddress {
    const isOfThisBoot = Number(row.boot) === this.#moment.boot;
    return {
      address: keyAddress(row.address),
      restedMs: isOfThisBoot ? uptimeMs - Number(row.released_ms) : Infinity,
    };
  }
}
