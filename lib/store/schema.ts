/**
 * The tables, and how an older file becomes a current one.
 *
 * `PRAGMA user_version` counts the migrations a file has seen. They only go forward: a file
 * that has seen more than this program knows is refused, since writing to it would break
 * rules nobody here has heard of.
 */

import { type Database } from "./database.ts";
import { StoreError } from "./errors.ts";

/** "HCNI": says whose file this is, to file(1) and to us. */
const APPLICATION_ID = 0x48434e49;

/**
 * Each entry brings a file from the version of its index to the next. Never edit one that
 * was released.
 *
 * Addresses are 16 bytes in network order, so that SQLite's comparison of blobs is numeric
 * order (`address_key.ts`).
 */
const MIGRATIONS: readonly string[] = [
  `
  -- Starts of the kernel; times below count from one of them (lib/sys/boot_clock.ts).
  CREATE TABLE boot (
    id INTEGER PRIMARY KEY,
    boot_id TEXT NOT NULL UNIQUE
  ) STRICT;

  CREATE TABLE network (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
  ) STRICT;

  -- What ADD made and DEL ends, by the key the CNI specification gives it.
  CREATE TABLE attachment (
    id INTEGER PRIMARY KEY,
    network INTEGER NOT NULL REFERENCES network,
    container_id TEXT NOT NULL,
    ifname TEXT NOT NULL,
    boot INTEGER NOT NULL REFERENCES boot,
    created_ms INTEGER NOT NULL, -- wall clock, to show; nothing is decided by it
    netns TEXT,
    pod_namespace TEXT,
    pod_name TEXT,
    pod_uid TEXT,
    record TEXT, -- what the network plugin made, as JSON: DEL goes by it
    UNIQUE (network, container_id, ifname)
  ) STRICT;
  CREATE INDEX attachment_by_boot ON attachment (network, boot);

  -- Addresses somebody holds: an attachment, or nobody but a note that says why.
  CREATE TABLE address (
    network INTEGER NOT NULL REFERENCES network,
    address BLOB NOT NULL CHECK (length(address) = 16),
    attachment INTEGER REFERENCES attachment,
    position INTEGER NOT NULL DEFAULT 0, -- place in the result of ADD
    kind TEXT NOT NULL CHECK (kind IN ('held', 'reserved', 'found')),
    note TEXT,
    boot INTEGER REFERENCES boot, -- of a found one: when it was found
    PRIMARY KEY (network, address)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX address_by_attachment ON address (attachment);
  CREATE INDEX address_found ON address (network, boot) WHERE kind = 'found';

  -- Addresses that were released and rest, in the order of their release.
  CREATE TABLE resting (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    network INTEGER NOT NULL REFERENCES network,
    family INTEGER NOT NULL,
    address BLOB NOT NULL CHECK (length(address) = 16),
    boot INTEGER NOT NULL REFERENCES boot,
    released_ms INTEGER NOT NULL, -- uptime of that boot
    UNIQUE (network, address)
  ) STRICT;
  CREATE INDEX resting_by_family ON resting (network, family, seq);

  -- The union of address and resting as maximal runs (taken_runs.ts).
  CREATE TABLE run (
    network INTEGER NOT NULL REFERENCES network,
    first BLOB NOT NULL CHECK (length(first) = 16),
    last BLOB NOT NULL CHECK (length(last) = 16),
    PRIMARY KEY (network, first)
  ) STRICT, WITHOUT ROWID;

  -- The range sets of a network as last configured, and where each goes on.
  CREATE TABLE pool (
    network INTEGER NOT NULL REFERENCES network,
    position INTEGER NOT NULL,
    definition TEXT,
    cursor BLOB,
    PRIMARY KEY (network, position)
  ) STRICT, WITHOUT ROWID;

  -- After a rebuild: what the kernel used then. Every network that begins later takes them over.
  CREATE TABLE found (
    address BLOB PRIMARY KEY CHECK (length(address) = 16),
    place TEXT NOT NULL,
    boot INTEGER NOT NULL REFERENCES boot
  ) STRICT, WITHOUT ROWID;
`,
  `
  -- Attachments that a chain of plugins makes (lib/cni/chain), by the same key.
  CREATE TABLE chain (
    id INTEGER PRIMARY KEY,
    network INTEGER NOT NULL REFERENCES network,
    container_id TEXT NOT NULL,
    ifname TEXT NOT NULL,
    boot INTEGER NOT NULL REFERENCES boot,
    created_ms INTEGER NOT NULL, -- wall clock, to show; nothing is decided by it
    netns TEXT,
    args TEXT, -- CNI_ARGS of the ADD
    whole INTEGER NOT NULL DEFAULT 0, -- the ADD came to its end
    UNIQUE (network, container_id, ifname)
  ) STRICT;

  -- Plugins that may have run for it: written before each ADD, gone after its DEL.
  CREATE TABLE chain_step (
    chain INTEGER NOT NULL REFERENCES chain ON DELETE CASCADE,
    position INTEGER NOT NULL,
    type TEXT NOT NULL,
    config TEXT NOT NULL, -- as the plugin got it, without prevResult
    result TEXT, -- as the plugin printed it
    status TEXT NOT NULL CHECK (status IN ('started', 'added', 'left')),
    error TEXT, -- of a DEL that failed
    PRIMARY KEY (chain, position)
  ) STRICT, WITHOUT ROWID;
`,
];

/** The version of the schema this program writes. */
export const SCHEMA_VERSION: number = MIGRATIONS.length;

/** Brings the tables of `db` to this program's version. @throws {StoreError} */
export function migrate(db: Database): void {
  if (version(db) === SCHEMA_VERSION) return;
  db.transaction(() => {
    // Read again under the lock: another process may have been faster.
    const from = version(db);
    refuseForeign(db, from);
    for (const step of MIGRATIONS.slice(from)) db.exec(step);
    if (from < SCHEMA_VERSION) db.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
  });
}

function version(db: Database): number {
  return Number(db.get("PRAGMA user_version")?.user_version ?? 0);
}

function refuseForeign(db: Database, from: number): void {
  if (from > SCHEMA_VERSION) {
    throw new StoreError({
      operation: "open store",
      subject: db.path,
      kind: "NewerSchema",
      reason: `a newer headcni wrote it (schema ${from}, this one knows ${SCHEMA_VERSION})`,
      remedy: "Install that release again, or a newer one",
    });
  }
  const id = Number(db.get("PRAGMA application_id")?.application_id ?? 0);
  const tables = Number(db.get("SELECT count(*) AS n FROM sqlite_schema")?.n ?? 0);
  if (id === APPLICATION_ID || (id === 0 && tables === 0)) return;
  throw new StoreError({
    operation: "open store",
    subject: db.path,
    kind: "Refused",
    reason: "it is the database of another program",
    remedy: "Choose another data directory, or move the file away",
  });
}
