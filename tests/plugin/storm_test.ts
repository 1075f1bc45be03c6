/** Many pods at once, as after a restart of the node, and a runtime that loses its patience. */

import { assert, assertEquals } from "@std/assert";
import { configOf } from "./config.ts";
import { type Json } from "./namespace.ts";
import { NEEDS } from "./needs.ts";
import { type Node, openNode, type Pod } from "./node.ts";
import { inParallel } from "./parallel.ts";
import { assertSameNode, readStore } from "./snapshot.ts";

const PODS = 100;
const AT_ONCE = 8;

/** Long enough to reach every part of a call, short enough to hit most of them. */
const KILL_WITHIN_MS = 150;

/** What became of a pod. */
interface Outcome {
  readonly pod: Pod;
  /** The result of the last ADD, if the pod should have a network now. */
  readonly result: Json | undefined;
  /** How many of its calls were killed. */
  readonly kills: number;
}

/** Numbers below 1 that are the same in every run: a failure can be repeated. */
function sequence(seed: number): () => number {
  let state = seed;
  return () => {
    state = Math.imul(state ^ state >>> 15, 0x2c1b3c6d) + 0x9e3779b9 | 0;
    return (state >>> 0) / 2 ** 32;
  };
}

/** Calls the plugin and kills it after some time; what it printed, if it was in time. */
async function callBriefly(
  pod: Pod,
  verb: "ADD" | "DEL",
  options: { config: Json; afterMs: number },
): Promise<{ readonly isKilled: boolean; readonly result: Json | undefined }> {
  let timer: number | undefined;
  const { code, signal, value, stdout } = await pod.node.call(
    verb,
    pod.about(options.config, {
      onStart: (child) => {
        timer = setTimeout(() => {
          try {
            child.kill("SIGKILL");
          } catch {
            // it has ended
          }
        }, options.afterMs);
      },
    }),
  );
  clearTimeout(timer);
  const isKilled = signal === "SIGKILL";
  if (!isKilled) assertEquals(code, 0, stdout);
  return { isKilled, result: isKilled ? undefined : value };
}

/** A pod's life: added, perhaps killed on the way and tried again, perhaps deleted. */
async function live(node: Node, config: Json, random: () => number): Promise<Outcome> {
  const pod = await node.pod();
  const [kill, end] = [random(), random()];
  const briefly = () => ({ config, afterMs: random() * KILL_WITHIN_MS });
  let kills = 0;
  let result: Json | undefined;
  if (kill < 0.4) {
    const first = await callBriefly(pod, "ADD", briefly());
    // As runtimes do: after an ADD that failed comes a DEL, and then all begins anew.
    if (first.isKilled) await pod.del(config);
    kills += Number(first.isKilled);
    result = first.result;
  }
  result ??= await pod.add(config);
  if (end >= 0.5) return { pod, result, kills };
  if (end < 0.25) kills += Number((await callBriefly(pod, "DEL", briefly())).isKilled);
  await pod.del(config);
  return { pod, result: undefined, kills };
}

Deno.test({
  ...NEEDS,
  name: `${PODS} pods, ${AT_ONCE} at a time, with random kills: no address twice, nothing left`,
  async fn() {
    await using node = await openNode();
    const config = configOf("dual-stack");
    const before = await node.warmUp(config);
    const random = sequence(20_261_116);
    const outcomes = await inParallel(
      Array.from({ length: PODS }),
      AT_ONCE,
      () => live(node, config, random),
    );
    const kills = outcomes.reduce((sum, outcome) => sum + outcome.kills, 0);
    assert(kills > PODS / 10, `${kills} kills`);
    const survivors = outcomes.filter(({ result }) => result !== undefined);
    assert(survivors.length > PODS / 4, `${survivors.length} survivors`);

    const addresses = survivors.flatMap(({ result }) =>
      result?.ips.map(({ address }: Json) => address.replace(/\/.*/, ""))
    );
    assertEquals(addresses.length, new Set(addresses).size, "an address was given twice");
    const held = readStore(node.dataDir).filter(({ kind }) => kind === "held");
    assertEquals(held.length, addresses.length, "addresses are held by nobody");

    const [first] = survivors;
    assert(first);
    const answers = await inParallel(addresses, AT_ONCE, async (address) => {
      return await node.reaches(address) && await first.pod.namespace.reaches(address);
    });
    assertEquals(addresses.filter((_, at) => !answers[at]), [], "survivors that do not answer");

    await inParallel(outcomes, AT_ONCE, ({ pod }) => pod.del(config));
    assertSameNode(await node.snapshot(), before);
  },
});

Deno.test({
  ...NEEDS,
  name: "the first pods of a node, all at once, load the packet filter together",
  async fn() {
    await using node = await openNode();
    const config = configOf("IPv4");
    const pods: Pod[] = [];
    for (let count = 0; count < AT_ONCE; count++) pods.push(await node.pod());
    const results = await inParallel(pods, AT_ONCE, (pod) => pod.add(config));
    for (const [at, { ips }] of results.entries()) {
      const neighbour = pods[(at + 1) % AT_ONCE];
      assert(await neighbour?.namespace.reaches(ips[0].address.slice(0, -3)));
    }
  },
});

Deno.test({
  ...NEEDS,
  name: "a pool with room for some gives each address once and says to the rest that it is full",
  async fn() {
    await using node = await openNode();
    // 10.88.0.1 is the gateway, 10.88.0.7 the broadcast address: five are left.
    const config = configOf("IPv4", {
      ipam: { type: "headcni-ipam", subnet: "10.88.0.0/29", cooldown: 0 },
    });
    const answers = await inParallel(Array.from({ length: 12 }), AT_ONCE, async () => {
      const pod = await node.pod();
      return await node.call("ADD", pod.about(config));
    });
    const given = answers.filter(({ code }) => code === 0).map(({ value }) =>
      value?.ips[0].address
    );
    assertEquals([given.length, new Set(given).size], [5, 5]);
    const refused = answers.filter(({ code }) => code !== 0).map(({ value }) => value?.code);
    assertEquals(refused, Array(7).fill(100));
  },
});
