import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { parseAddress } from "../ip/address.ts";
import { lockFile } from "../sys/file_lock.ts";
import { temporaryDirectory, untilClosed } from "../sys/testing.ts";
import { StoreError } from "./errors.ts";
import { storePaths } from "./location.ts";
import { hasStore, probeStore, readStore, type StoreOptions, withStore } from "./open_store.ts";
import { type Store } from "./store.ts";

function options(directory: string, more: Partial<StoreOptions> = {}): StoreOptions {
  return { directory: `${directory}/data`, observe: () => Promise.resolve([]), ...more };
}

function begin(store: Store): void {
  store.transaction(() => store.ensureNetwork("net"));
}

Deno.test("withStore() makes the store, and what it kept is there the next time", async () => {
  using root = temporaryDirectory();
  const where = options(root.path);
  assertEquals(hasStore(where), false);
  await withStore(where, begin);
  assertEquals(readStore(where, (store) => store.networks()), ["net"]);
  probeStore({ ...where, writeObstacle: () => undefined });
});

Deno.test("readStore() and probeStore() make nothing", () => {
  using root = temporaryDirectory();
  const where = options(root.path);
  assertEquals(readStore(where, () => 1), undefined);
  probeStore({ ...where, writeObstacle: () => undefined });
  assertEquals([...Deno.readDirSync(root.path)], []);
});

Deno.test("readStore() does not wait for a writer", async () => {
  using root = temporaryDirectory();
  const where = options(root.path);
  await withStore(where, begin);
  await withStore(where, (store) => {
    store.transaction(() => {
      store.ensureNetwork("second");
      assertEquals(readStore(where, (other) => other.networks()), ["net"]);
    });
  });
});

Deno.test("a lock that others hold is waited for as long as patience allows, and no longer", async () => {
  using root = temporaryDirectory();
  const where = options(root.path);
  await withStore(where, begin);
  const { lock } = storePaths(where.directory);
  {
    using _held = await lockFile(lock, { mode: "exclusive", timeoutMs: 5000 });
    const error = await assertRejects(
      () => withStore({ ...where, patienceMs: 20 }, begin),
      StoreError,
      "holds its lock, and did not give it up for 20 ms",
    );
    assertEquals(error.kind, "Busy");
    assertStringIncludes(error.message, `process ${Deno.pid}`);
  }
  await withStore(where, begin);
  await untilClosed(lock);
});

Deno.test("a database that others keep busy is tried again until patience ends", async () => {
  using root = temporaryDirectory();
  let nowMs = 0;
  const pauses: number[] = [];
  const where = options(root.path, {
    patienceMs: 1000,
    clock: {
      now: () => 0,
      monotonicMs: () => nowMs,
      sleep: (ms) => {
        pauses.push(ms);
        nowMs += ms;
        return Promise.resolve();
      },
    },
  });
  const work = () => {
    throw new StoreError({ operation: "x", reason: "y", kind: "Busy" });
  };
  await assertRejects(() => withStore(where, work), StoreError);
  assertEquals(pauses, [50, 100, 200, 400]);
});

Deno.test("other failures are not tried again", async () => {
  using root = temporaryDirectory();
  let calls = 0;
  const work = () => {
    calls++;
    throw new StoreError({ operation: "x", reason: "y", kind: "NoSpace" });
  };
  await assertRejects(() => withStore(options(root.path), work), StoreError);
  assertEquals(calls, 1);
});

Deno.test("a damaged store is made anew with what the kernel uses, in every network", async () => {
  using root = temporaryDirectory();
  const kept: (string | undefined)[] = [];
  const found = [{ address: parseAddress("10.0.0.7"), place: "eth0 in /run/netns/a" }];
  const where = options(root.path, {
    observe: () => Promise.resolve(found),
    onRebuild: (rebuild) => kept.push(rebuild.kept?.replace(/damaged-.*/, "damaged")),
    clock: { now: () => 0, monotonicMs: () => 0, sleep: () => Promise.resolve() },
  });
  await withStore(where, begin);
  const { database } = storePaths(where.directory);
  Deno.writeTextFileSync(database, "junk".repeat(2000));
  const held = await withStore(
    where,
    (store) =>
      store.transaction(() =>
        ["net", "other"].flatMap((name) =>
          store.ensureNetwork(name).addresses.list().map(({ address, kind, note }) =>
            `${name} ${address} ${kind} ${note}`
          )
        )
      ),
  );
  assertEquals(held, ["net", "other"].map((name) => `${name} 10.0.0.7 found eth0 in /run/netns/a`));
  assertEquals(kept, [`${database}.damaged`]);
});

Deno.test("a store is not made anew blindly: if the kernel cannot be asked, it stays", async () => {
  using root = temporaryDirectory();
  const observe = () => Promise.reject(new TypeError("Cannot look: test"));
  const where = options(root.path, { observe });
  await withStore(where, begin);
  const { database } = storePaths(where.directory);
  Deno.truncateSync(database, 0);
  await assertRejects(() => withStore(where, begin), TypeError, "Cannot look");
  assertEquals(Deno.statSync(database).size, 0);
});
