import { assertEquals, assertThrows } from "@std/assert";
import { openDatabase } from "./database.ts";
import { StoreError } from "./errors.ts";
import { migrate, SCHEMA_VERSION } from "./schema.ts";

Deno.test("migrate() brings an empty file to the current version, once", () => {
  using db = openDatabase(":memory:");
  migrate(db);
  migrate(db);
  assertEquals(db.get("PRAGMA user_version"), { user_version: SCHEMA_VERSION });
});

Deno.test("migrate() refuses what a newer release wrote", () => {
  using db = openDatabase(":memory:");
  migrate(db);
  db.exec(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`);
  const error = assertThrows(() => migrate(db), StoreError, "a newer headcni wrote it");
  assertEquals(error.kind, "NewerSchema");
});

Deno.test("migrate() refuses the database of another program", () => {
  using db = openDatabase(":memory:");
  db.exec("CREATE TABLE bookmarks (url)");
  assertEquals(assertThrows(() => migrate(db), StoreError).kind, "Refused");
});

Deno.test("a key must be 16 bytes and an attachment must exist", () => {
  using db = openDatabase(":memory:");
  migrate(db);
  db.exec("INSERT INTO network (id, name) VALUES (1, 'n')");
  const insert = (key: Uint8Array, attachment: number | null) => () =>
    db.run(
      "INSERT INTO address (network, address, attachment, kind) VALUES (1, ?, ?, 'held')",
      key,
      attachment,
    );
  assertThrows(insert(new Uint8Array(4), null), StoreError, "CHECK constraint failed");
  assertThrows(insert(new Uint8Array(16), 7), StoreError, "FOREIGN KEY constraint failed");
  insert(new Uint8Array(16), null)();
  assertThrows(insert(new Uint8Array(16), null), StoreError, "UNIQUE constraint failed");
});
