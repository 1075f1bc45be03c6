/** A chain of four that fails at each plugin, at each verb, in each way. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type Json } from "../plugin/namespace.ts";
import { inParallel } from "../plugin/parallel.ts";
import { type Call, chainOf, FakeNode, resultOf, type Type, TYPES } from "./fake_plugins.ts";
import { type Way, WAYS } from "./failures.ts";

interface Case {
  readonly way: Way;
  readonly at: number;
}

const CASES: readonly Case[] = WAYS.flatMap((way) => TYPES.map((_, at) => ({ way, at })));

/** Most of the time of a case is spent waiting, for programs or for a deadline. */
const AT_ONCE = 4;

/** Runs all cases, those that wait for a deadline at once; a step for each outcome. */
async function eachCase(
  test: Deno.TestContext,
  cases: readonly Case[],
  work: (node: FakeNode, one: Case) => Promise<void>,
): Promise<void> {
  const run = async (one: Case): Promise<unknown> => {
    await using node = new FakeNode();
    try {
      await work(node, one);
      return undefined;
    } catch (error) {
      return error;
    }
  };
  const [slow, fast] = [cases.filter(isSlow), cases.filter((one) => !isSlow(one))];
  const [waited, ran] = await Promise.all([
    inParallel(slow, slow.length || 1, run),
    inParallel(fast, AT_ONCE, run),
  ]);
  for (const [index, { way, at }] of [...slow, ...fast].entries()) {
    await test.step(`${way.name} at ${TYPES[at]}`, () => {
      const outcome = [...waited, ...ran][index];
      if (outcome !== undefined) throw outcome;
    });
  }
}

function isSlow({ way }: Case): boolean {
  return way.isSlow === true;
}

function typeAt(at: number): Type {
  const type = TYPES[at];
  assert(type);
  return type;
}

/** `ADD alpha`, `ADD bravo`, … up to the one at `last`. */
function upTo(verb: string, last: number): string[] {
  return TYPES.slice(0, last + 1).map((type) => `${verb} ${type}`);
}

/** `DEL …` down from the one at `first`. */
function downFrom(first: number): string[] {
  return upTo("DEL", first).toReversed();
}

function assertTold(error: Json, { way, at }: Case): void {
  assertStringIncludes(error.msg, way.told);
  assertStringIncludes(error.msg, typeAt(at));
  assertEquals(error.cniVersion, "1.1.0");
}

/** Every variable of the specification, and none of our own call's others. */
function assertEnvironment(node: FakeNode, { name, env }: Call, more: Json = {}): void {
  const given = Object.fromEntries(Object.entries(env).filter(([key]) => /^CNI_/.test(key)));
  const isAboutPod = /^(ADD|DEL|CHECK) /.test(name);
  assertEquals(given, {
    CNI_COMMAND: name.replace(/ .*/, ""),
    CNI_PATH: node.bin,
    ...(isAboutPod
      ? {
        CNI_CONTAINERID: "c1",
        CNI_NETNS: "/run/netns/not-there",
        CNI_IFNAME: "eth0",
        CNI_ARGS: "IgnoreUnknown=1;K8S_POD_NAME=pod",
      }
      : {}),
    ...more,
  });
  assertEquals([env.OTHER, env.HEADCNI_DATA_DIR], ["goes on", node.data]);
}

/** What the plugin was told: its own configuration, and the result it is to know. */
function assertInput({ name, stdin }: Call, prevResult: Json | undefined): void {
  const [, type] = name.split(" ");
  assertEquals(stdin, {
    cniVersion: "1.1.0",
    name: "fakenet",
    type,
    mark: `of ${type}`,
    ...(prevResult === undefined ? {} : { prevResult }),
  });
}

function resultBefore(at: number): Json | undefined {
  return at === 0 ? undefined : resultOf(typeAt(at - 1));
}

Deno.test("ADD that succeeds: each plugin gets the result of the one before", async () => {
  await using node = new FakeNode();
  assertEquals(await node.succeed("ADD"), resultOf("delta"));
  const calls = node.calls();
  assertEquals(calls.map(({ name }) => name), upTo("ADD", 3));
  for (const [at, call] of calls.entries()) {
    assertEnvironment(node, call);
    assertInput(call, resultBefore(at));
  }
  const [chain] = node.chains();
  assertEquals([chain?.isWhole, chain?.netns, chain?.args], [
    true,
    "/run/netns/not-there",
    "IgnoreUnknown=1;K8S_POD_NAME=pod",
  ]);
  assertEquals(
    chain?.steps.map(({ result }) => JSON.parse(result ?? "")),
    TYPES.map((type) => resultOf(type)),
  );

  await node.succeed("DEL");
  const deleted = node.calls();
  assertEquals(deleted.map(({ name }) => name), downFrom(3));
  for (const call of deleted) {
    assertEnvironment(node, call);
    assertInput(call, resultOf("delta"));
  }
  assertEquals(node.chains(), []);
});

Deno.test("ADD that fails: it and those before it get their DEL, last first", async (test) => {
  await eachCase(test, CASES, async (node, one) => {
    const { way, at } = one;
    way.plant(node, typeAt(at), "ADD");
    const error = await node.fail("ADD");
    assertTold(error, one);
    assertEquals(error.code, way.code);
    const calls = node.calls();
    // A program that cannot be started is found out before anything runs.
    const expected = way.neverRuns ? [] : [...upTo("ADD", at), ...downFrom(at)];
    assertEquals(calls.map(({ name }) => name), expected);
    for (const [index, call] of calls.entries()) {
      assertEnvironment(node, call);
      assertInput(call, resultBefore(Math.min(index, at)));
    }
    assertEquals(node.chains(), [], "nothing is left to delete");
    if (way.name === "an error object") assertEquals(error.details, "more");
  });
});

Deno.test("ADD that fails, and so does a DEL of the way back: told, kept, deleted later", async (test) => {
  const way = WAYS[0];
  assert(way);
  await eachCase(test, TYPES.map((_, at) => ({ way, at })), async (node, { at }) => {
    // The last one fails; on the way back the one at `at` does.
    way.plant(node, "delta", "ADD");
    node.answer(typeAt(at), "DEL", '{"code":5,"msg":"will not go","details":"stuck"}', 1);
    const error = await node.fail("ADD");
    assertEquals([error.code, error.msg], [123, "Cannot use plugin delta (plugins[3]): own words"]);
    assertStringIncludes(error.details, "more; not undone, DEL tries again: ");
    assertStringIncludes(
      error.details,
      `${typeAt(at)} (number ${at + 1} of the chain): will not go (stuck)`,
    );
    assertEquals(node.names(), [...upTo("ADD", 3), ...downFrom(3)]);
    assertEquals(node.steps(), [`${typeAt(at)} left`]);
    assertStringIncludes(node.chains()[0]?.steps[0]?.error ?? "", "will not go");

    await node.fail("DEL");
    assertEquals(node.names(), [`DEL ${typeAt(at)}`]);
    node.repair(typeAt(at), "DEL");
    await node.succeed("DEL");
    assertEquals(node.names(), [`DEL ${typeAt(at)}`]);
    assertEquals(node.chains(), []);
  });
});

Deno.test("DEL that fails: the others are deleted, and only it is tried again", async (test) => {
  await eachCase(test, CASES, async (node, one) => {
    const { way, at } = one;
    await node.succeed("ADD");
    node.calls();
    way.plant(node, typeAt(at), "DEL");
    const changed = chainOf(["other"], { runtimeConfig: { changed: true } });
    const { code, value } = await node.call("DEL", { config: changed });
    const calls = node.calls();
    const all = downFrom(3);
    assertEquals(
      calls.map(({ name }) => name),
      way.neverRuns ? all.filter((name) => !name.endsWith(typeAt(at))) : all,
    );
    for (const call of calls) {
      assertEnvironment(node, call);
      assertInput(call, resultOf("delta")); // as it was added, whatever the file says now
    }
    if (way.ofResult) return assertEquals([code, node.chains()], [0, []]); // nothing to print

    assertTold(value ?? {}, one);
    assertEquals([code, value?.code], [1, 11]);
    assertEquals(node.steps(), [`${typeAt(at)} left`]);
    node.repair(typeAt(at), "DEL");
    await node.succeed("DEL", { config: changed });
    const again = node.calls();
    assertEquals(again.map(({ name }) => name), [`DEL ${typeAt(at)}`]);
    assertEquals(node.chains(), []);
  });
});

Deno.test("CHECK ends at the first plugin that fails", async (test) => {
  await eachCase(test, CASES, async (node, one) => {
    const { way, at } = one;
    const prevResult = await node.succeed("ADD");
    node.calls();
    way.plant(node, typeAt(at), "CHECK");
    const { code, value } = await node.call("CHECK", { config: chainOf(TYPES, { prevResult }) });
    const calls = node.calls();
    const last = way.ofResult ? 3 : way.neverRuns ? at - 1 : at;
    assertEquals(calls.map(({ name }) => name), upTo("CHECK", last));
    for (const call of calls) {
      assertEnvironment(node, call);
      assertInput(call, resultOf("delta"));
    }
    assertEquals(code, way.ofResult ? 0 : 1);
    if (!way.ofResult) {
      assertTold(value ?? {}, one);
      assertEquals(value?.code, way.code);
    }
    assertEquals(node.steps(), TYPES.map((type) => `${type} added`));
  });
});

Deno.test("STATUS ends at the first plugin that is not ready", async (test) => {
  await eachCase(test, CASES, async (node, one) => {
    const { way, at } = one;
    way.plant(node, typeAt(at), "STATUS");
    const { code, value } = await node.call("STATUS");
    const calls = node.calls().filter(({ name }) => !name.startsWith("VERSION"));
    const last = way.ofResult ? 3 : way.neverRuns ? -1 : at;
    // With four plugins and less than a second, a busy machine may not get to the one that hangs.
    if (!way.isSlow) assertEquals(calls.map(({ name }) => name), upTo("STATUS", last));
    for (const call of calls) {
      assertEnvironment(node, call);
      assertInput(call, undefined);
    }
    assertEquals(code, way.ofResult ? 0 : 1);
    if (way.ofResult) return;
    // Nor to an answer of its own before the limit of the whole call.
    if (way.isSlow) return assert([50, 11].includes(value?.code), `${value?.code}`);
    assertTold(value ?? {}, one);
    assertEquals(value?.code, way.code === 123 ? 123 : 50);
  });
});

Deno.test("GC goes on after a plugin that fails, and deletes what is not listed", async (test) => {
  await eachCase(test, CASES, async (node, one) => {
    const { way, at } = one;
    await node.succeed("ADD", { containerId: "kept" });
    await node.succeed("ADD", { containerId: "gone" });
    node.calls();
    way.plant(node, typeAt(at), "GC");
    const list = [{ containerID: "kept", ifname: "eth0" }];
    const config = chainOf(TYPES, { "cni.dev/valid-attachments": list });
    const { code, value } = await node.call("GC", { config });
    const calls = node.calls();
    const names = calls.map(({ name }) => name);
    const isThere = (name: string) => !way.neverRuns || !name.endsWith(typeAt(at));
    assertEquals(names.filter((name) => name.startsWith("DEL")), downFrom(3).filter(isThere));
    assertEquals(names.filter((name) => name.startsWith("GC")), upTo("GC", 3).filter(isThere));
    for (const call of calls.filter(({ name }) => name.startsWith("GC"))) {
      assertEnvironment(node, call);
      const { "cni.dev/valid-attachments": valid, "cni.dev/attachments": old, ...rest } =
        call.stdin;
      assertEquals([valid, old], [list, list]);
      assertInput({ ...call, stdin: rest }, undefined);
    }
    for (const { env } of calls.filter(({ name }) => name.startsWith("DEL"))) {
      assertEquals([env.CNI_CONTAINERID, env.CNI_NETNS], ["gone", "/run/netns/not-there"]);
    }
    assertEquals(code, way.ofResult ? 0 : 1);
    if (!way.ofResult) assertTold(value ?? {}, one);
    const left = node.chains().map(({ containerId }) => containerId);
    assertEquals(left, way.neverRuns ? ["kept", "gone"] : ["kept"]);
  });
});

Deno.test("a program that vanishes while the chain runs was never run, and needs no DEL", async () => {
  await using node = new FakeNode();
  node.script(
    "alpha",
    "ADD",
    `rm "$home/bin/charlie"; cat <<'END'\n${JSON.stringify(resultOf("alpha"))}\nEND`,
  );
  const error = await node.fail("ADD");
  assertStringIncludes(error.msg, "charlie (plugins[2]): it is in none of CNI_PATH");
  assertEquals(node.names(), ["ADD alpha", "ADD bravo", "DEL bravo", "DEL alpha"]);
  assertEquals(node.chains(), []);
});
