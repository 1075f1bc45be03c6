import { assertEquals, assertThrows } from "@std/assert";
import { temporaryDirectory } from "../sys/testing.ts";
import { openDatabase } from "./database.ts";
import { StoreError } from "./errors.ts";

Deno.test("transaction() keeps all or nothing", () => {
  using db = openDatabase(":memory:");
  db.exec("CREATE TABLE t (x INTEGER)");
  db.transaction(() => db.run("INSERT INTO t VALUES (1)"));
  assertThrows(() =>
    db.transaction(() => {
      db.run("INSERT INTO t VALUES (2)");
      throw new TypeError("Cannot go on: test");
    }), TypeError);
  assertEquals(db.all("SELECT x FROM t"), [{ x: 1 }]);
});

Deno.test("rehearse() undoes what it ran, transactions inside included", () => {
  using db = openDatabase(":memory:");
  db.exec("CREATE TABLE t (x INTEGER)");
  const seen = db.rehearse(() =>
    db.transaction(() => {
      db.run("INSERT INTO t VALUES (1)");
      return db.all("SELECT x FROM t").length;
    })
  );
  assertEquals([seen, db.all("SELECT x FROM t").length], [1, 0]);
  db.transaction(() => db.run("INSERT INTO t VALUES (2)"));
  assertEquals(db.all("SELECT x FROM t"), [{ x: 2 }]);
});

Deno.test("the settings that make it durable and quiet are on", () => {
  using directory = temporaryDirectory();
  using db = openDatabase(`${directory.path}/x.db`);
  const setting = (name: string) => Object.values(db.get(`PRAGMA ${name}`) ?? {})[0];
  assertEquals(
    ["journal_mode", "synchronous", "temp_store", "foreign_keys"].map(setting),
    ["wal", 2, 2, 1],
  );
});

Deno.test("what SQLite answers is told as a StoreError of its kind", () => {
  using directory = temporaryDirectory();
  const path = `${directory.path}/x.db`;
  const kindOf = (work: () => unknown) => assertThrows(work, StoreError).kind;
  using first = openDatabase(path);
  first.exec("CREATE TABLE t (x UNIQUE)");

  using second = openDatabase(path, { busyTimeoutMs: 10 });
  first.exec("BEGIN IMMEDIATE");
  assertEquals(kindOf(() => second.transaction(() => 1)), "Busy");
  first.exec("ROLLBACK");

  second.exec("PRAGMA query_only = ON");
  assertEquals(kindOf(() => second.run("INSERT INTO t VALUES (1)")), "ReadOnly");
  first.exec("PRAGMA max_page_count = 3");
  const fill = () => first.run("INSERT INTO t VALUES (zeroblob(100000))");
  assertEquals(kindOf(fill), "NoSpace");
  assertEquals(kindOf(() => first.exec("SELEC")), "Failed");

  Deno.writeTextFileSync(`${directory.path}/text`, "this is not a database, is it?".repeat(99));
  assertEquals(kindOf(() => openDatabase(`${directory.path}/text`)), "Corrupt");
  assertEquals(kindOf(() => openDatabase(`${directory.path}/no/such`)), "Failed");
});
