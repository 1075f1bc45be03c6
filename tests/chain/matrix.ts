/** Four plugins and all ways to fail, and what a test looks at after each. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type Json } from "../plugin/namespace.ts";
import { inParallel } from "../plugin/parallel.ts";
import { type Way, WAYS } from "./failures.ts";
import { type Call, FakeNode, resultOf, type Type, TYPES } from "./fake_plugins.ts";

/** One way, at one plugin. */
export interface Case {
  readonly way: Way;
  readonly at: number;
}

/** All ways at all plugins. */
export const CASES: readonly Case[] = WAYS.flatMap((way) => TYPES.map((_, at) => ({ way, at })));

/** Most of the time of a case is spent waiting, for programs or for a deadline. */
const AT_ONCE = 4;

/** Runs all cases, those that wait for a deadline at once; a step for each outcome. */
export async function eachCase(
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

/** The plugin at a position. */
export function typeAt(at: number): Type {
  const type = TYPES[at];
  assert(type);
  return type;
}

/** `ADD alpha`, `ADD bravo`, … up to the one at `last`. */
export function upTo(verb: string, last: number): string[] {
  return TYPES.slice(0, last + 1).map((type) => `${verb} ${type}`);
}

/** `DEL …` down from the one at `first`. */
export function downFrom(first: number): string[] {
  return upTo("DEL", first).toReversed();
}

/** The error says what happened, and to whom. */
export function assertTold(error: Json, { way, at }: Case): void {
  assertStringIncludes(error.msg, way.told);
  assertStringIncludes(error.msg, typeAt(at));
  assertEquals(error.cniVersion, "1.1.0");
}

/** Every variable of the specification, and none of our own call's others. */
export function assertEnvironment(node: FakeNode, { name, env }: Call, more: Json = {}): void {
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
export function assertInput({ name, stdin }: Call, prevResult: Json | undefined): void {
  const [, type] = name.split(" ");
  assertEquals(stdin, {
    cniVersion: "1.1.0",
    name: "fakenet",
    type,
    mark: `of ${type}`,
    ...(prevResult === undefined ? {} : { prevResult }),
  });
}

/** What the plugin at a position gets as previous result. */
export function resultBefore(at: number): Json | undefined {
  return at === 0 ? undefined : resultOf(typeAt(at - 1));
}
