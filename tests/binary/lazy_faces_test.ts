/**
 * A face evaluates its own chunks and no others.
 *
 * The bundle of the program under test is compiled once more with every chunk that
 * the plugin face does not import replaced by one that throws. If the plugin
 * evaluated any of them, it could not answer.
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { compile } from "../../tools/build/compile.ts";
import { runtimePin } from "../../tools/build/pins.ts";
import { findRuntime } from "../../tools/build/runtime.ts";
import { isTarget } from "../../tools/build/targets.ts";
import { PROGRAM, run, temporaryDirectory } from "./program.ts";

const TARGET = Deno.build.target;
const BUNDLE = `${PROGRAM.replace(/[^/]+$/, "")}.build/${TARGET}/bundle`;

/** Chunks that `chunk` imports statically, itself included, all the way down. */
function staticClosure(chunk: string, seen: Set<string> = new Set()): Set<string> {
  if (seen.has(chunk)) return seen;
  seen.add(chunk);
  const text = Deno.readTextFileSync(`${BUNDLE}/${chunk}`);
  for (const [, next = ""] of text.matchAll(/(?:from|import)\s*"\.\/([^"]+\.js)"/g)) {
    staticClosure(next, seen);
  }
  return seen;
}

Deno.test("the plugin face evaluates no chunk of another face", async () => {
  assert(isTarget(TARGET));
  await using directory = temporaryDirectory();
  const chunks = [...Deno.readDirSync(BUNDLE)].map((file) => file.name)
    .filter((name) => name.endsWith(".js"));
  const face = chunks.find((name) => name.startsWith("plugin_face"));
  assert(face !== undefined, `no chunk of the plugin face among ${chunks}`);
  const own = staticClosure(face, staticClosure("headcni.js"));
  const foreign = chunks.filter((name) => !own.has(name));
  assert(foreign.some((name) => name.startsWith("command_line")), `${foreign} misses the CLI`);

  for (const name of chunks) {
    const text = foreign.includes(name)
      ? `throw new Error("evaluated ${name}");`
      : await Deno.readTextFile(`${BUNDLE}/${name}`);
    await Deno.writeTextFile(`${directory.path}/${name}`, text);
  }
  const program = `${directory.path}/program`;
  await compile(`${directory.path}/headcni.js`, program, {
    target: TARGET,
    runtime: await findRuntime(TARGET, runtimePin(TARGET)),
  });

  const plugin = await run([], { program, env: { CNI_COMMAND: "VERSION" } });
  assertEquals([plugin.code, plugin.stderr], [0, ""]);
  const person = await run(["version"], { program });
  assertStringIncludes(person.stderr, "evaluated command_line"); // the poison does work
});
