/** Addresses somebody holds, and why. */

import { type IpAddress } from "../ip/address.ts";
import { type AddressRange } from "../ip/range.ts";
import { addressKey, keyAddress } from "./address_key.ts";
import { type Database, type Row } from "./database.ts";

/**
 * - `held`: by an attachment.
 * - `reserved`: by a person, for good.
 * - `found`: in use by the kernel when the store was rebuilt; its holder is not known.
 */
export type HoldKind = "held" | "reserved" | "found";

/** An address that is not to be given out. */
export interface HeldAddress {
  readonly address: IpAddress;
  readonly kind: HoldKind;
  /** Row of the attachment that holds it. */
  readonly attachment: number | undefined;
  /** Why it is reserved, or where it was found. */
  readonly note: string | undefined;
}

/** Who takes an address. */
export interface Hold {
  readonly kind: HoldKind;
  readonly attachment?: number;
  /** Place in the result of ADD. */
  readonly position?: number;
  readonly note?: string;
  /** When it was found, as a row of the table `boot`. */
  readonly boot?: number;
}

const COLUMNS = "address, attachment, kind, note";

/** The held addresses of one network. */
export class HeldAddresses {
  readonly #db: Database;
  readonly #network: number;

  constructor(db: Database, network: number) {
    this.#db = db;
    this.#network = network;
  }

  find(address: IpAddress): HeldAddress | undefined {
    const sql = `SELECT ${COLUMNS} FROM address WHERE network = ? AND address = ?`;
    const row = this.#db.get(sql, this.#network, addressKey(address));
    return row && decode(row);
  }

  /** In the order of the result of ADD. */
  ofAttachment(attachment: number): IpAddress[] {
    const sql = "SELECT address FROM address WHERE attachment = ? ORDER BY position";
    return this.#db.all(sql, attachment).map((row) => keyAddress(row.address));
  }

  /** In numeric order. */
  list(): HeldAddress[] {
    return this.#db.all(
      `SELECT ${COLUMNS} FROM address WHERE network = ? ORDER BY address`,
      this.#network,
    ).map(decode);
  }

  /** How many addresses of `range` are held. */
  count(range: AddressRange): number {
    const row = this.#db.get(
      "SELECT count(*) AS n FROM address WHERE network = ? AND address BETWEEN ? AND ?",
      this.#network,
      addressKey(range.start),
      addressKey(range.end),
    );
    return Number(row?.n ?? 0);
  }

  /** Some of those found in use before the machine restarted. */
  foundBeforeBoot(boot: number, limit: number): IpAddress[] {
    return this.#db.all(
      "SELECT address FROM address WHERE network = ? AND kind = 'found' AND boot <> ? LIMIT ?",
      this.#network,
      boot,
      limit,
    ).map((row) => keyAddress(row.address));
  }

  add(address: IpAddress, hold: Hold): void {
    this.#db.run(
      "INSERT INTO address (network, address, attachment, position, kind, note, boot)" +
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
      this.#network,
      addressKey(address),
      hold.attachment ?? null,
      hold.position ?? 0,
      hold.kind,
      hold.note ?? null,
      hold.boot ?? null,
    );
  }

  remove(address: IpAddress): void {
    const sql = "DELETE FROM address WHERE network = ? AND address = ?";
    this.#db.run(sql, this.#network, addressKey(address));
  }
}

function decode(row: Row): HeldAddress {
  return {
    address: keyAddress(row.address),
    kind: row.kind === "held" || row.kind === "reserved" ? row.kind : "found",
    attachment: row.attachment === null ? undefined : Number(row.attachment),
    note: typeof row.note === "string" ? row.note : undefined,
  };
}
