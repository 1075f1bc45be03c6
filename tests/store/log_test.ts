/** SQLite's log of a store, as other processes find it. */

import "../../lib/sys/testing.ts"; // opens libc before the first test
import { assertEquals } from "@std/assert";
import { readStore, withStore } from "../../lib/store/mod.ts";
import { temporaryDirectory } from "../binary/program.ts";

for (const checkpoint of [true, false]) {
  const what = checkpoint ? "folds the log into the database" : "leaves the log to the next one";
  Deno.test(`who reads the store with checkpoint ${checkpoint} ${what}`, async () => {
    await using directory = temporaryDirectory();
    const options = { directory: directory.path, observe: () => Promise.resolve([]) };
    // Closed, or its connection would keep the log whatever the reader does.
    await withStore(options, (store) =>
      store.transaction(() => {
        store.ensureNetwork("one");
      }));
    const networks = readStore({ ...options, checkpoint }, (store) => store.networks());
    assertEquals(networks, ["one"]);
    const files = [...Deno.readDirSync(directory.path)].map(({ name }) => name);
    assertEquals(files.includes("headcni.db-wal"), !checkpoint);
  });
}
