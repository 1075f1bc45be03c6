/** A chain of four that fails at each plugin, in each way: ADD and DEL. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { WAYS } from "./failures.ts";
import { chainOf, FakeNode, resultOf, TYPES } from "./fake_plugins.ts";
import {
  assertEnvironment,
  assertInput,
  assertTold,
  CASES,
  downFrom,
  eachCase,
  resultBefore,
  typeAt,
  upTo,
} from "./matrix.ts";

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
