/**
 * Killed between any two steps: every plugin that may have run gets its DEL from the next DEL,
 * GC or ADD, and nothing is left in the store.
 */

import { assert, assertEquals } from "@std/assert";
import { type Verb } from "../plugin/node.ts";
import { changeStore } from "../plugin/snapshot.ts";
import { chainOf, FakeNode, TYPES } from "./fake_plugins.ts";
import { downFrom, upTo } from "./matrix.ts";

const SOURCES = new URL("../../lib/cni/chain/", import.meta.url);
const PAGE = new URL("../../docs/testing.md", import.meta.url);

/** The points at each plugin, and those of the call. */
const IN_ADD = ["chain.add.begun", "chain.add.complete"];
const AT_EACH_ADD = ["chain.add.recorded", "chain.add.run"];
const IN_DEL = ["chain.del.begun"];
const AT_EACH_DEL = ["chain.del.run", "chain.del.forgotten"];
const IN_MIGRATION = ["chain.flannel.run"]; // migration_test.ts

/** A kill, what has run by then, and who has to get a DEL afterwards. */
interface Kill {
  readonly point: string;
  readonly calls: readonly string[];
  readonly deletes: readonly string[];
}

const ADD_KILLS: readonly Kill[] = [
  { point: "chain.add.begun", calls: [], deletes: [] },
  ...TYPES.flatMap((_, at) => [
    // About to run: nobody knows whether it did.
    {
      point: `chain.add.recorded.${at}`,
      calls: upTo("ADD", at - 1),
      deletes: downFrom(at),
    },
    {
      point: `chain.add.run.${at}`,
      calls: upTo("ADD", at),
      deletes: downFrom(at),
    },
  ]),
  {
    point: "chain.add.complete",
    calls: upTo("ADD", 3),
    deletes: downFrom(3),
  },
];

const DEL_KILLS: readonly Kill[] = [
  { point: "chain.del.begun", calls: [], deletes: downFrom(3) },
  ...TYPES.flatMap((_, at) => [
    {
      point: `chain.del.run.${at}`,
      calls: downFrom(3).slice(0, 4 - at),
      deletes: downFrom(at),
    },
    {
      point: `chain.del.forgotten.${at}`,
      calls: downFrom(3).slice(0, 4 - at),
      deletes: downFrom(at - 1),
    },
  ]),
];

async function killAt(node: FakeNode, verb: Verb, point: string): Promise<void> {
  const { signal, stdout } = await node.call(verb, { env: { HEADCNI_FAILPOINT: point } });
  assertEquals([signal, stdout], ["SIGKILL", ""], `${verb} was not killed at ${point}`);
}

Deno.test("every fail point of the chain is tried here and described in docs/testing.md", async () => {
  const found = new Set<string>();
  for await (const { name } of Deno.readDir(SOURCES)) {
    const text = await Deno.readTextFile(new URL(name, SOURCES));
    for (const [, point = ""] of text.matchAll(/failpoint\(["`]([^"`]+)["`]\)/g)) {
      found.add(point.replace(/\.\$\{.*\}$/, ""));
    }
  }
  const tried = [...IN_ADD, ...AT_EACH_ADD, ...IN_DEL, ...AT_EACH_DEL, ...IN_MIGRATION];
  assertEquals([...found].sort(), tried.sort());
  const page = await Deno.readTextFile(PAGE);
  for (const name of tried) assert(page.includes(`\`${name}`), `${name} is not described`);
});

for (const repair of ["DEL", "GC", "ADD"] as const) {
  Deno.test(`ADD killed between any two steps, then ${repair}`, async (test) => {
    for (const { point, calls, deletes } of ADD_KILLS) {
      // Whole: another ADD is refused, as tested below.
      if (repair === "ADD" && point === "chain.add.complete") continue;
      await test.step(point, async () => {
        await using node = new FakeNode();
        await killAt(node, "ADD", point);
        assertEquals(node.names(), calls);
        await node.succeed(repair);
        const after = node.names();
        assertEquals(
          after.filter((name) => name.startsWith("DEL")),
          repair === "DEL" && deletes.length === 0
            // Without a record the plugins of the configuration are called, to be sure.
            ? downFrom(3)
            : deletes,
        );
        if (repair === "ADD") {
          assertEquals(after.slice(deletes.length), upTo("ADD", 3));
          await node.succeed("DEL");
        }
        assertEquals(node.chains(), []);
      });
    }
  });
}

for (const repair of ["DEL", "GC"] as const) {
  Deno.test(`DEL killed between any two steps, then ${repair}`, async (test) => {
    for (const { point, calls, deletes } of DEL_KILLS) {
      await test.step(point, async () => {
        await using node = new FakeNode();
        await node.succeed("ADD");
        node.names();
        await killAt(node, "DEL", point);
        assertEquals(node.names(), calls);
        await node.succeed(repair);
        const after = node.names().filter((name) => name.startsWith("DEL"));
        assertEquals(
          after,
          repair === "DEL" && deletes.length === 0 ? downFrom(3) : deletes,
        );
        assertEquals(node.chains(), []);
      });
    }
  });
}

Deno.test("the way back of a failing ADD, killed between any two steps, is finished by DEL", async (test) => {
  for (
    const { point, calls, deletes } of DEL_KILLS.filter(({ point }) => point !== "chain.del.begun")
  ) {
    await test.step(point, async () => {
      await using node = new FakeNode();
      node.answer("delta", "ADD", '{"code":7,"msg":"no"}', 1);
      await killAt(node, "ADD", point);
      assertEquals(node.names(), [...upTo("ADD", 3), ...calls]);
      if (deletes.length === 0) return assertEquals(node.chains(), []);
      await node.succeed("DEL");
      assertEquals(node.names(), deletes);
      assertEquals(node.chains(), []);
    });
  }
});

for (const repair of ["DEL", "GC", "ADD"] as const) {
  Deno.test(`killed while a plugin runs, then ${repair}: it is ended, and gets its DEL`, async () => {
    await using node = new FakeNode();
    const running = `${node.directory}/running`;
    node.script("charlie", "ADD", 'echo $$ >"$home/running"; sleep 60');
    const { signal } = await node.call("ADD", {
      onStart: async (child) => {
        while (!(await Deno.readTextFile(running).catch(() => "")).endsWith("\n")) {
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
        child.kill("SIGKILL");
      },
    });
    assertEquals(signal, "SIGKILL");
    assertEquals(node.names(), upTo("ADD", 2));
    assertEquals(node.steps(), ["alpha added", "bravo added", "charlie started"]);
    const plugin = Number(Deno.readTextFileSync(running));
    assert(isRunning(plugin), "the plugin did not outlive us");
    node.repair("charlie", "ADD");
    await node.succeed(repair);
    assert(!isRunning(plugin), "the plugin runs on");
    const deleted = node.names().filter((name) => name.startsWith("DEL"));
    assertEquals(deleted, downFrom(2));
  });
}

function isRunning(pid: number): boolean {
  try {
    return !/\) Z /.test(Deno.readTextFileSync(`/proc/${pid}/stat`));
  } catch {
    return false;
  }
}

Deno.test("an ADD that succeeded is not repeated", async () => {
  await using node = new FakeNode();
  await node.succeed("ADD");
  node.names();
  const error = await node.fail("ADD");
  assertEquals([error.code, error.msg], [
    104,
    "Cannot add interface eth0 of c1: an ADD for it has succeeded before",
  ]);
  assertEquals(node.names(), []);
  await node.succeed("ADD", { ifname: "net1" });
  assertEquals(node.chains().map(({ ifname }) => ifname), ["eth0", "net1"]);
  await node.succeed("DEL");
  assertEquals(node.chains().map(({ ifname }) => ifname), ["net1"]);
});

Deno.test("what a restart of the machine ended is deleted, without a namespace, and made anew", async () => {
  await using node = new FakeNode();
  await node.succeed("ADD");
  changeStore(node.data, "UPDATE boot SET boot_id = 'an earlier one'");
  node.names();
  await node.succeed("ADD");
  const calls = node.calls();
  assertEquals(calls.map(({ name }) => name), [...downFrom(3), ...upTo("ADD", 3)]);
  assertEquals(calls.slice(0, 4).map(({ env }) => env.CNI_NETNS), ["", "", "", ""]);
});

Deno.test("a damaged store does not keep a DEL from its plugins", async () => {
  await using node = new FakeNode();
  await node.succeed("ADD");
  node.names();
  Deno.writeTextFileSync(`${node.data}/headcni.db`, "not a database, not at all, no");
  for (const name of ["headcni.db-wal", "headcni.db-shm"]) {
    await Deno.remove(`${node.data}/${name}`).catch(() => {});
  }
  const { code, stderr } = await node.call("DEL", { config: chainOf() });
  assertEquals(code, 0, stderr);
  assertEquals(node.names(), downFrom(3));
});
