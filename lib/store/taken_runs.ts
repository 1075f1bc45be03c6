/**
 * Which addresses of a network are taken, as maximal runs.
 *
 * A run is an interval of taken addresses that cannot be made longer: the address before it
 * and the one after it are free. So "the next free address from here" is one look-up in an
 * index, however many addresses are taken and however large the pool is; a /64 costs what a
 * /24 costs. Taking or freeing an address changes at most two rows.
 *
 * Invariants, which the property test of `lib/ipam` checks after every batch of operations:
 * the runs of a network are disjoint, no two touch, and together they hold exactly the
 * addresses of the tables `address` and `resting`.
 */

import { fromKey, toKey } from "./address_key.ts";
import { type Database } from "./database.ts";

/** Taken addresses from `first` to `last`, both included, as places. */
export interface TakenRun {
  readonly first: bigint;
  readonly last: bigint;
}

/** The runs of one network. Places are those of `address_key.ts`. */
export class TakenRuns {
  readonly #db: Database;
  readonly #network: number;

  constructor(db: Database, network: number) {
    this.#db = db;
    this.#network = network;
  }

  /** Whether `place` is taken. */
  has(place: bigint): boolean {
    const run = this.#runAtOrBefore(place);
    return run !== undefined && run.last >= place;
  }

  /** The first free place that is `from` or after it. */
  nextFree(from: bigint): bigint {
    const run = this.#runAtOrBefore(from);
    return run === undefined || run.last < from ? from : run.last + 1n;
  }

  /** Marks a free place as taken. */
  take(place: bigint): void {
    const before = this.#runAtOrBefore(place);
    if (before !== undefined && before.last >= place) {
      throw new TypeError(`Cannot take place ${place}: it is taken`);
    }
    const after = this.#runAt(place + 1n);
    const last = after?.last ?? place;
    if (after !== undefined) this.#delete(after.first);
    if (before?.last === place - 1n) this.#setLast(before.first, last);
    else this.#insert(place, last);
  }

  /** Marks a taken place as free. */
  free(place: bigint): void {
    const run = this.#runAtOrBefore(place);
    if (run === undefined || run.last < place) {
      throw new TypeError(`Cannot free place ${place}: it is free`);
    }
    if (run.first === place) this.#delete(run.first);
    else this.#setLast(run.first, place - 1n);
    if (run.last !== place) this.#insert(place + 1n, run.last);
  }

  /** The runs that reach into `first … last`, in order. */
  within(first: bigint, last: bigint): TakenRun[] {
    const before = this.#runAtOrBefore(first);
    const rows = this.#db.all(
      "SELECT first, last FROM run WHERE network = ? AND first > ? AND first <= ? ORDER BY first",
      this.#network,
      toKey(first),
      toKey(last),
    ).map((row) => ({ first: fromKey(row.first), last: fromKey(row.last) }));
    return before !== undefined && before.last >= first ? [before, ...rows] : rows;
  }

  #runAtOrBefore(place: bigint): TakenRun | undefined {
    const row = this.#db.get(
      "SELECT first, last FROM run WHERE network = ? AND first <= ? ORDER BY first DESC LIMIT 1",
      this.#network,
      toKey(place),
    );
    return row && { first: fromKey(row.first), last: fromKey(row.last) };
  }

  #runAt(first: bigint): TakenRun | undefined {
    const sql = "SELECT last FROM run WHERE network = ? AND first = ?";
    const row = this.#db.get(sql, this.#network, toKey(first));
    return row && { first, last: fromKey(row.last) };
  }

  #insert(first: bigint, last: bigint): void {
    const sql = "INSERT INTO run (network, first, last) VALUES (?, ?, ?)";
    this.#db.run(sql, this.#network, toKey(first), toKey(last));
  }

  #setLast(first: bigint, last: bigint): void {
    const sql = "UPDATE run SET last = ? WHERE network = ? AND first = ?";
    this.#db.run(sql, toKey(last), this.#network, toKey(first));
  }

  #delete(first: bigint): void {
    this.#db.run("DELETE FROM run WHERE network = ? AND first = ?", this.#network, toKey(first));
  }
}
