/** A chain of four that fails at each plugin, in each way: CHECK, STATUS and GC. */

import { assert, assertEquals } from "@std/assert";
import { type Answer } from "../plugin/node.ts";
import { type Way } from "./failures.ts";
import { chainOf, type FakeNode, resultOf, TYPES } from "./fake_plugins.ts";
import {
  assertEnvironment,
  assertInput,
  assertTold,
  CASES,
  downFrom,
  eachCase,
  typeAt,
  upTo,
} from "./matrix.ts";

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

/** A runtime asks again, too: four programs in less than a second are much for a busy machine. */
const PATIENCE = 8;

/** STATUS, repeated while it is about time and not about what the test has planted. */
async function askStatus(node: FakeNode, way: Way): Promise<Answer> {
  for (let attempt = 1;; attempt++) {
    const answer = await node.call("STATUS");
    const isLate = /\d ms\b/.test(answer.value?.msg ?? "");
    if (way.isSlow || !isLate || attempt === PATIENCE) return answer;
    node.forgetCalls();
  }
}

Deno.test("STATUS ends at the first plugin that is not ready", async (test) => {
  await eachCase(test, CASES, async (node, one) => {
    const { way, at } = one;
    way.plant(node, typeAt(at), "STATUS");
    const { code, value } = await askStatus(node, way);
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
