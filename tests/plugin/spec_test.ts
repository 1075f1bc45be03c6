/**
 * The specification as a table: every row is one call of the compiled plugin.
 *
 * All rows of a file run on one node, four at a time. Those that fail must not have changed
 * anything, which is looked at once, at the end; those that succeed are deleted again.
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { configOf } from "./config.ts";
import { NEEDS } from "./needs.ts";
import { type Answer, type Node, openNode } from "./node.ts";
import { inParallel } from "./parallel.ts";
import { assertSameNode } from "./snapshot.ts";
import { CONFIG } from "./spec/config.ts";
import { DECODING } from "./spec/decoding.ts";
import { ENVIRONMENT } from "./spec/environment.ts";
import { LENIENCY } from "./spec/leniency.ts";
import { PREVIOUS } from "./spec/previous.ts";
import { type Row } from "./spec/row.ts";

const TABLE = { environment: ENVIRONMENT, decoding: DECODING, config: CONFIG, PREVIOUS, LENIENCY };

const PARALLEL = 4;

Deno.test("the table has at least 150 rows, and no two of the same name", () => {
  const names = Object.values(TABLE).flat().map(({ cites, what }) => `${what} (${cites})`);
  assert(names.length >= 150, `${names.length} rows`);
  assertEquals(names.length, new Set(names).size);
});

for (const [part, rows] of Object.entries(TABLE)) {
  Deno.test({
    ...NEEDS,
    name: `SPEC, ${part.toLowerCase()}: ${rows.length} calls`,
    async fn(test) {
      await using node = await openNode();
      const before = await node.warmUp();
      const idle = await node.pod();
      const answers = await inParallel(
        rows,
        PARALLEL,
        (row, at) => callRow(node, row, { at, idle }),
      );
      for (const [at, row] of rows.entries()) {
        await test.step(`${row.what} (${row.cites})`, () => {
          const answer = answers[at];
          assert(answer);
          checkAnswer(row, answer);
        });
      }
      await test.step("nothing is left on the node, and nothing in the pod", async () => {
        assertSameNode(await node.snapshot(), before);
        assertEquals((await idle.namespace.ip("link")).length, 1);
      });
    },
  });
}

/** Calls the plugin for a row, and DEL after an ADD that should succeed. */
async function callRow(
  node: Node,
  row: Row,
  { at, idle }: { at: number; idle: { readonly namespace: { readonly path: string } } },
): Promise<Answer> {
  const { verb = "ADD", config = {}, stdin, env = {}, makesPod } = row;
  const netns = makesPod ? (await node.pod()).namespace.path : idle.namespace.path;
  const call = {
    config: stdin ?? { ...configOf("IPv4"), ...config },
    env: definedOnly({
      CNI_CONTAINERID: `row-${at}`,
      CNI_IFNAME: "eth0",
      CNI_NETNS: netns,
      CNI_PATH: "/opt/cni/bin",
      ...env,
    }),
  };
  const answer = await node.callExactly(verb, call);
  if (makesPod) await node.callExactly("DEL", call);
  return answer;
}

function definedOnly(env: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

function checkAnswer(row: Row, answer: Answer): void {
  const { code, says, result, verb = "ADD" } = row;
  const { value, stdout, stderr } = answer;
  const codes = typeof code === "number" ? [code] : code;
  if (codes.includes(0)) {
    assertEquals(answer.code, 0, stdout);
    assertEquals(stderr, "", "runtimes copy standard error of a success into their log");
    assertEquals(value !== undefined, ["ADD", "VERSION"].includes(verb), `stdout: ${stdout}`);
  } else {
    checkError(answer);
    assert(codes.includes(value?.code), `code ${value?.code} instead of ${codes}: ${stdout}`);
    if (says !== undefined) assertStringIncludes(`${value?.msg} ${value?.details ?? ""}`, says);
  }
  result?.(value ?? {}, answer);
}

/** SPEC 1.1.0, "Error": a version, a number, a message; details if there are any. */
function checkError({ code, value }: Answer): void {
  assertEquals(code, 1, "exit code");
  assert(value, "an error object on standard output");
  const { cniVersion, code: number, msg, details, ...rest } = value;
  assertMatch(cniVersion, /^\d+\.\d+\.\d+$/);
  assert(Number.isInteger(number) && number > 0 && number !== 999, `code ${number}: ${msg}`);
  assertMatch(msg, /^Cannot /);
  assert(details === undefined || typeof details === "string" && details !== "");
  assertEquals(rest, {});
}
