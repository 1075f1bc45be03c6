/**
 * A face evaluates its own code and no other.
 *
 * The bundle of the program under test is compiled once more with every chunk but the entry's
 * replaced by one that throws. If the plugin evaluated any of them, it could not answer: all it
 * needs is in its script.
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { compile, PROGRAM_FLAGS } from "../../tools/build/compile.ts";
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
  const files = [...Deno.readDirSync(BUNDLE)].map((file) => file.name);
  const chunks = files.filter((name) => name.endsWith(".js"));
  const version = chunks.find((name) => name.startsWith("version-"));
  assert(version !== undefined, `no chunk of the versions among ${chunks}`);
  const own = staticClosure(version, staticClosure("headcni.js"));
  const foreign = chunks.filter((name) => !own.has(name));
  for (const face of ["command_line", "plugin_face"]) {
    assert(foreign.some((name) => name.startsWith(face)), `${foreign} misses ${face}`);
  }
  for (const name of files) {
    if (foreign.includes(name)) {
      await Deno.writeTextFile(
        `${directory.path}/${name}`,
        `throw new Error("evaluated ${name}");`,
      );
    } else {
      await Deno.copyFile(`${BUNDLE}/${name}`, `${directory.path}/${name}`);
    }
  }
  const program = `${directory.path}/program`;
  await compile(`${directory.path}/headcni.js`, program, {
    target: TARGET,
    runtime: await findRuntime(TARGET, runtimePin(TARGET)),
  });

  const versions = await run([], { program, env: { CNI_COMMAND: "VERSION" } });
  assertEquals([versions.code, versions.stderr], [0, ""]);
  // Any other verb is answered by the plugin's script, with no module at all.
  const plugin = await run([], { program, env: { CNI_COMMAND: "NONSENSE" } });
  assertEquals([plugin.code, plugin.stderr, JSON.parse(plugin.stdout).code], [1, "", 4]);
  const person = await run(["version"], { program });
  assertStringIncludes(person.stderr, "evaluated command_line"); // the poison does work
});

Deno.test("the program carries a code cache that V8 takes", async () => {
  assert(isTarget(TARGET));
  await using directory = temporaryDirectory();
  const source = `
    import { Buffer } from "node:buffer";
    import { Script } from "node:vm";
    const cachedData = Buffer.from(Deno.readFileSync("${BUNDLE}/plugin.cache"));
    const script = new Script(Deno.readTextFileSync("${BUNDLE}/plugin.script"), { cachedData });
    console.log(script.cachedDataRejected);
  `;
  await Deno.mkdir(`${directory.path}/source`);
  await Deno.writeTextFile(`${directory.path}/source/main.js`, source);
  const program = `${directory.path}/program`;
  const runtime = await findRuntime(TARGET, runtimePin(TARGET));
  const entry = `${directory.path}/source/main.js`;
  await compile(entry, program, { target: TARGET, runtime, v8Flags: PROGRAM_FLAGS });
  assertEquals((await run([], { program })).stdout, "false\n");
  // Other flags than the program's: V8 says no, so the answer above means something.
  await compile(entry, program, { target: TARGET, runtime, v8Flags: ["--no-opt"] });
  assertEquals((await run([], { program })).stdout, "true\n");
});
