/**
 * Killed at every step, and at random: never a duplicate, never a lost address, and the next
 * call goes on as if nothing had happened.
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { seededRandom } from "../../lib/sys/testing.ts";
import { requires, root, tool } from "../requires.ts";
import { createNamespace } from "./namespace.ts";
import { Bench, type Ending, network } from "./plugin.ts";

const CONFIG = network({ ranges: [[{ subnet: "10.66.0.0/24" }], [{ subnet: "fd66::/120" }]] });
const SOURCES = new URL("../../lib/", import.meta.url);

/** Every fail point of the sources, by the verb that meets it. */
const ADD_POINTS = [
  "store.locked",
  "store.create.complete",
  "store.opened",
  "allocate.begin",
  "allocate.network",
  "allocate.woken",
  "allocate.attached",
  "allocate.chosen",
  "allocate.held",
  "allocate.cursor",
  "allocate.uncommitted",
  "allocate.committed",
];
const DEL_POINTS = [
  "store.locked",
  "store.opened",
  "release.begin",
  "release.read",
  "release.rested",
  "release.detached",
  "release.uncommitted",
  "release.committed",
];
const REBUILD_POINTS = ["store.rebuild.marked", "store.rebuild.moved", "store.rebuild.created"];

function addressesOf({ json }: Ending): string[] {
  return json.ips.map((ip: { address: string }) => ip.address.replace(/\/.*/, ""));
}

async function held(bench: Bench): Promise<Map<string, string[]>> {
  const { json } = await bench.ipam("list", "--json");
  const entries: { containerId?: string; address: string }[] = json;
  const byId = Map.groupBy(entries, ({ containerId }) => containerId ?? "");
  byId.delete("");
  return new Map([...byId].map(([id, list]) => [id, list.map(({ address }) => address)]));
}

async function assertSound(bench: Bench): Promise<void> {
  const { json } = await bench.ipam("check", "--json");
  assertEquals([json.damage, json.duplicate], [[], 0]);
}

async function* sourceFiles(directory: URL): AsyncGenerator<URL> {
  for await (const { name, isDirectory } of Deno.readDir(directory)) {
    if (isDirectory) yield* sourceFiles(new URL(`${name}/`, directory));
    else if (name.endsWith(".ts")) yield new URL(name, directory);
  }
}

Deno.test("every fail point of store and IPAM is tried here and described in docs/testing.md", async () => {
  const found = new Set<string>();
  for await (const file of sourceFiles(SOURCES)) {
    const text = await Deno.readTextFile(file);
    // Those of the network plugin (add.…, del.…) are tried in tests/plugin/faults_test.ts, those of
    // the packet filter in tests/plugin/flushed_test.ts, those of the meta-plugin in
    // tests/chain/crash_test.ts.
    const others = /failpoint\("((?!add\.|del\.|firewall\.|chain\.)[^"]+)"\)/g;
    for (const [, name = ""] of text.matchAll(others)) {
      found.add(name);
    }
  }
  const tried = new Set([...ADD_POINTS, ...DEL_POINTS, ...REBUILD_POINTS]);
  assertEquals([...found].sort(), [...tried].sort());
  assert(tried.size >= 12);
  const page = await Deno.readTextFile(new URL("../../docs/testing.md", import.meta.url));
  for (const name of tried) assertStringIncludes(page, `\`${name}\``);
});

for (const point of ADD_POINTS) {
  Deno.test(`ADD killed at ${point} leaves a store the next call goes on with`, async () => {
    await using bench = new Bench();
    const isCreation = point === "store.create.complete";
    if (!isCreation) await bench.call({ command: "ADD", id: "before", config: CONFIG });
    const env = { HEADCNI_FAILPOINT: point };
    const killed = await bench.call({ command: "ADD", id: "victim", config: CONFIG, env });
    assertEquals([killed.signal, killed.stdout], ["SIGKILL", ""]);

    const next = await bench.call({ command: "ADD", id: "next", config: CONFIG });
    assertEquals(next.code, 0, next.stdout);
    const retried = await bench.call({ command: "ADD", id: "victim", config: CONFIG });
    const again = await bench.call({ command: "ADD", id: "victim", config: CONFIG });
    assertEquals(again.json, retried.json);
    const stored = await held(bench);
    assertEquals(stored.get("next"), addressesOf(next));
    assertEquals(stored.get("victim"), addressesOf(retried));
    const all = [...stored.values()].flat();
    assertEquals([all.length, new Set(all).size], isCreation ? [4, 4] : [6, 6]);
    // Committed before the kill: the addresses wait for the same container.
    if (point === "allocate.committed") {
      assertEquals(addressesOf(retried), ["10.66.0.3", "fd66::3"]);
    }
    await assertSound(bench);
  });
}

// What fails after the commit is done.
for (const point of ADD_POINTS.filter((name) => name !== "allocate.committed")) {
  Deno.test(`ADD that fails at ${point} undoes what it did`, async () => {
    await using bench = new Bench();
    const env = { HEADCNI_FAILPOINT: `${point}:error` };
    const failed = await bench.call({ command: "ADD", id: "victim", config: CONFIG, env });
    assertEquals([failed.code, failed.json.code], [1, 999]);
    assertEquals((await held(bench)).size, 0);
  });
}

for (const point of DEL_POINTS) {
  Deno.test(`DEL killed at ${point} is finished by the next one`, async () => {
    await using bench = new Bench();
    const kept = await bench.call({ command: "ADD", id: "kept", config: CONFIG });
    await bench.call({ command: "ADD", id: "victim", config: CONFIG });
    const env = { HEADCNI_FAILPOINT: point };
    const killed = await bench.call({ command: "DEL", id: "victim", config: CONFIG, env });
    assertEquals(killed.signal, "SIGKILL");
    const between = (await held(bench)).get("victim")?.length ?? 0;
    assertEquals(between, point === "release.committed" ? 0 : 2);

    const next = await bench.call({ command: "DEL", id: "victim", config: CONFIG });
    assertEquals([next.code, next.stdout], [0, ""]);
    assertEquals([...await held(bench)], [["kept", addressesOf(kept)]]);
    await assertSound(bench);
  });
}

for (const point of REBUILD_POINTS) {
  Deno.test({
    ...requires(root, tool("ip", "iproute2")),
    name: `a rebuild killed at ${point} is finished by the next call, and knows what is in use`,
    fn: async () => {
      await using bench = new Bench();
      await using namespace = await createNamespace();
      await bench.call({ command: "ADD", id: "running", config: CONFIG });
      await namespace.ip("addr", "add", "10.66.0.2/24", "dev", "lo");
      await Deno.writeTextFile(`${bench.data}/headcni.db`, "not a database, not at all, no");
      const env = { HEADCNI_FAILPOINT: point };
      const killed = await bench.call({ command: "ADD", id: "victim", config: CONFIG, env });
      assertEquals(killed.signal, "SIGKILL", killed.stdout);
      const next = await bench.call({ command: "ADD", id: "next", config: CONFIG });
      assertEquals(next.code, 0, next.stdout);
      assertEquals(addressesOf(next)[0], "10.66.0.3", "an address in use was given away");
      const names = [...Deno.readDirSync(bench.data)].map(({ name }) => name);
      assert(names.some((name) => name.startsWith("headcni.db.damaged-")), `${names}`);
      assert(!names.includes(".headcni.db.rebuild"), `${names}`);
      await assertSound(bench);
    },
  });
}

const RANDOM_RUNS = 320;
const AT_ONCE = 4;

Deno.test(`${RANDOM_RUNS} calls killed at random lose nothing and double nothing`, async () => {
  await using bench = new Bench();
  const seed = Number(Deno.env.get("HEADCNI_TEST_SEED") ?? Date.now() % 1_000_000);
  const random = seededRandom(seed);
  /** What each container must hold; `undefined` when a killed call may or may not have been done. */
  const expected = new Map<string, string[] | undefined>();
  const points = [...ADD_POINTS, ...DEL_POINTS];
  let killed = 0;

  const runOne = async (id: string) => {
    const command = random.integer(3) === 0 ? "DEL" : "ADD";
    const byPoint = random.integer(3) === 0;
    const ending = await bench.call({
      command,
      id,
      config: CONFIG,
      ...(byPoint
        ? { env: { HEADCNI_FAILPOINT: points[random.integer(points.length)] ?? "" } }
        : { killAfterMs: 15 + random.integer(90) }),
    });
    if (ending.signal === "SIGKILL") killed++;
    // Killed after it had printed its answer counts as answered.
    const isAnswered = command === "ADD" ? ending.json?.ips !== undefined : ending.code === 0;
    if (!isAnswered) expected.set(id, command === "ADD" ? expected.get(id) : undefined);
    else expected.set(id, command === "ADD" ? addressesOf(ending) : []);
    if (!isAnswered && command === "ADD" && expected.get(id)?.length === 0) {
      expected.set(id, undefined);
    }
  };

  for (let run = 0; run < RANDOM_RUNS; run += AT_ONCE) {
    // One call per container at a time, as a runtime does it.
    const ids = Array.from({ length: AT_ONCE }, (_, i) => `c${(random.integer(10)) * AT_ONCE + i}`);
    await Promise.all(ids.map(runOne));
    if (run % 40 !== 0) continue;
    const stored = await held(bench);
    for (const [id, addresses] of expected) {
      const has = stored.get(id) ?? [];
      if (addresses !== undefined) assertEquals(has, addresses, `${id}, seed ${seed}`);
      else assert([0, 2].includes(has.length), `${id} holds a part, seed ${seed}`);
    }
    const all = [...stored.values()].flat();
    assertEquals(new Set(all).size, all.length, `an address is held twice, seed ${seed}`);
  }
  assert(killed >= RANDOM_RUNS / 4, `only ${killed} calls were killed`);
  await assertSound(bench);
  // The next call repairs: every container can be released, and then nothing is held.
  for (const id of expected.keys()) {
    assertEquals((await bench.call({ command: "DEL", id, config: CONFIG })).code, 0);
  }
  assertEquals((await held(bench)).size, 0);
});
