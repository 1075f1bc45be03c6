import { assertEquals, assertThrows } from "@std/assert";
import { openDatabase } from "./database.ts";
import { StoreError } from "./errors.ts";
import { migrate } from "./schema.ts";
import { FakeBoot, openTestStore } from "./testing.ts";

const KEY = { containerId: "c1", ifname: "eth0" };
const FACTS = { netns: "/run/netns/c1", args: "A=1" };
const STEP = { position: 0, type: "bridge", config: '{"type":"bridge"}' };

Deno.test("a chain is what its steps say: started, added, left, gone", () => {
  using store = openTestStore(new FakeBoot());
  const { chains } = store.transaction(() => store.ensureNetwork("n"));
  const id = chains.add(KEY, FACTS, 7);
  chains.startStep(id, STEP);
  const started = { ...STEP, result: undefined, status: "started", error: undefined } as const;
  assertEquals(chains.find(KEY), {
    id,
    ...KEY,
    ...FACTS,
    sinceBoot: true,
    createdMs: 7,
    isWhole: false,
    steps: [started],
  });
  chains.endStep(id, 0, "{}");
  chains.startStep(id, { ...STEP, position: 1, type: "portmap" });
  chains.complete(id);
  assertEquals(chains.find(KEY)?.isWhole, true);
  chains.leaveStep(id, 1, "busy");
  chains.removeStep(id, 0);
  const [chain] = chains.list();
  assertEquals([
    chain?.isWhole,
    chain?.steps.map(({ type, status, error }) => [type, status, error]),
  ], [
    false,
    [["portmap", "left", "busy"]],
  ]);
  chains.removeStep(id, 1);
  assertEquals([chains.find(KEY), chains.list()], [undefined, []]);
});

Deno.test("chains of two interfaces and of two networks are apart", () => {
  using store = openTestStore(new FakeBoot());
  const [one, two] = store.transaction(() => [store.ensureNetwork("1"), store.ensureNetwork("2")]);
  one?.chains.add(KEY, FACTS, 1);
  one?.chains.add({ ...KEY, ifname: "net1" }, FACTS, 2);
  assertThrows(() => one?.chains.add(KEY, FACTS, 3), StoreError, "UNIQUE");
  assertEquals(two?.chains.list(), []);
  assertEquals(one?.chains.list().map(({ ifname }) => ifname), ["eth0", "net1"]);
});

Deno.test("a chain of before the machine's restart is known as such", () => {
  const boot = new FakeBoot();
  using store = openTestStore(boot);
  store.transaction(() => store.ensureNetwork("n").chains.add(KEY, FACTS, 1));
  boot.restart();
  const network = store.transaction(() => store.ensureNetwork("n"));
  assertEquals(network.chains.find(KEY)?.sinceBoot, false);
});

Deno.test("a store of the first release gets the tables of chains", () => {
  using db = openDatabase(":memory:");
  migrate(db);
  db.exec("DROP TABLE chain_step; DROP TABLE chain; PRAGMA user_version = 1");
  db.exec("INSERT INTO network (name) VALUES ('kept')");
  migrate(db);
  assertEquals(db.all("SELECT count(*) AS n FROM chain"), [{ n: 0 }]);
  assertEquals(db.all("SELECT name FROM network"), [{ name: "kept" }]);
});
