/** An open store: networks by name, transactions, and what a rebuild found. */

import { type IpAddress } from "../ip/address.ts";
import { type BootClock } from "../sys/boot_clock.ts";
import { addressKey, keyAddress } from "./address_key.ts";
import { type Database } from "./database.ts";
import { NetworkRecords } from "./network.ts";

/** An address the kernel uses, and where it was seen. */
export interface FoundAddress {
  readonly address: IpAddress;
  readonly place: string;
}

/** What a {@linkcode Store} needs beside its database. */
export interface StoreParts {
  readonly bootClock: BootClock;
  /** Ends what holds the file open, locks included. */
  readonly close: () => void;
}

/** The truth about attachments and addresses. Open one with `openStore`. */
export class Store implements Disposable {
  readonly #db: Database;
  readonly #parts: StoreParts;
  #boot: number | undefined;

  constructor(db: Database, parts: StoreParts) {
    this.#db = db;
    this.#parts = parts;
  }

  /** Where it is. */
  get path(): string {
    return this.#db.path;
  }

  /** Runs `work` as one transaction; durable when this returns. @throws {StoreError} */
  transaction<T>(work: () => T): T {
    return this.#db.transaction(work);
  }

  /** Runs `work` and undoes all it changed: what `--dry-run` shows. @throws {StoreError} */
  rehearse<T>(work: () => T): T {
    return this.#db.rehearse(work);
  }

  /** Names of the networks, sorted. */
  networks(): string[] {
    return this.#db.all("SELECT name FROM network ORDER BY name").map((row) => String(row.name));
  }

  /** The network called `name`, if it was ever used. */
  network(name: string): NetworkRecords | undefined {
    const id = this.#db.get("SELECT id FROM network WHERE name = ?", name)?.id;
    if (id === undefined) return undefined;
    return new NetworkRecords(this.#db, { id: Number(id), name }, {
      // Without a row for this boot, every attachment is of an earlier one.
      boot: this.#boot ??= this.#findBoot() ?? 0,
      uptimeMs: this.#parts.bootClock.uptimeMs,
    });
  }

  /** The network called `name`; begins it if it is new. Call it in a transaction. */
  ensureNetwork(name: string): NetworkRecords {
    this.#boot = this.#findBoot() ?? this.#addBoot();
    const existing = this.network(name);
    if (existing !== undefined) return existing;
    this.#db.run("INSERT INTO network (name) VALUES (?)", name);
    const network = this.network(name);
    if (network === undefined) throw new TypeError(`Cannot begin network ${name}: it vanished`);
    for (const { address, place } of this.#found()) {
      network.hold(address, { kind: "found", note: place, boot: network.boot });
    }
    return network;
  }

  /** Records what the kernel uses now: every network that begins later takes it over. */
  setFound(found: readonly FoundAddress[]): void {
    const boot = this.#findBoot() ?? this.#addBoot();
    for (const { address, place } of found) {
      const sql = "INSERT OR IGNORE INTO found (address, place, boot) VALUES (?, ?, ?)";
      this.#db.run(sql, addressKey(address), place, boot);
    }
  }

  /** What SQLite and our own invariants say about the file; empty when all is well. */
  verify(): string[] {
    // Not quick_check: an index that contradicts its table would go unnoticed.
    const problems = this.#db.all("PRAGMA integrity_check")
      .map((row) => String(row.integrity_check));
    const orphans = this.#db.all("PRAGMA foreign_key_check")
      .map((row) => `a row of ${row.table} refers to no ${row.parent}`);
    return [...problems.filter((line) => line !== "ok"), ...orphans];
  }

  /** Ends the use of the store. */
  [Symbol.dispose](): void {
    this.#parts.close();
  }

  /** What a rebuild found since the machine started; before that, nothing of it can live. */
  #found(): FoundAddress[] {
    return this.#db.all("SELECT address, place FROM found WHERE boot = ?", this.#boot ?? 0)
      .map((row) => ({ address: keyAddress(row.address), place: String(row.place) }));
  }

  #findBoot(): number | undefined {
    const sql = "SELECT id FROM boot WHERE boot_id = ?";
    const id = this.#db.get(sql, this.#parts.bootClock.bootId())?.id;
    return id === undefined ? undefined : Number(id);
  }

  #addBoot(): number {
    return this.#db.run("INSERT INTO boot (boot_id) VALUES (?)", this.#parts.bootClock.bootId())
      .rowid;
  }
}
