/** A build that cannot be trusted or finished stops with a sentence. Run on copies of the tree. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { temporaryDirectory } from "../binary/program.ts";
import { build, type BuildEnding, copyTree } from "./copy.ts";

const ROOT = new URL("../..", import.meta.url).pathname;

/** Nobody listens there, and the answer comes at once. */
const DEAD_REGISTRY = { NPM_CONFIG_REGISTRY: "http://127.0.0.1:9/" };

async function editPins(directory: string, edit: (text: string) => string): Promise<void> {
  const path = `${directory}/tools/build/pins.json`;
  const text = await Deno.readTextFile(path);
  const edited = edit(text);
  assert(edited !== text, "the edit changed nothing");
  await Deno.writeTextFile(path, edited);
}

/** Builds the copy with an empty cache of ours. */
function buildFresh(directory: string, env: Record<string, string> = {}): Promise<BuildEnding> {
  return build(directory, { env: { HEADCNI_CACHE: `${directory}/cache`, ...env } });
}

Deno.test("a runtime with another sha256 than the pinned one stops the build", async () => {
  await using directory = temporaryDirectory();
  await copyTree(directory.path);
  await editPins(directory.path, (text) => text.replace('"2c06411a', '"00000000'));
  const { code, says } = await buildFresh(directory.path);
  assertEquals(code, 1);
  assertStringIncludes(says, "its sha256 is 2c06411a");
  assertStringIncludes(says, "pinned is 00000000");
  assert(!says.includes("at async"), `a stack trace is no message:\n${says}`);
});

Deno.test("an npm package with another integrity than the pinned one stops the build", async () => {
  await using directory = temporaryDirectory();
  await copyTree(directory.path);
  await editPins(directory.path, (text) => text.replace("sha512-zt", "sha512-AA"));
  const { code, says } = await buildFresh(directory.path);
  assertEquals(code, 1);
  assertStringIncludes(says, "its integrity is sha512-zt");
});

Deno.test("a cached runtime that was tampered with is fetched anew", async () => {
  await using directory = temporaryDirectory();
  await copyTree(directory.path);
  const cached = `${directory.path}/cache/runtime/denort-2.5.7-x86_64-unknown-linux-gnu`;
  await Deno.mkdir(`${directory.path}/cache/runtime`, { recursive: true });
  await Deno.writeTextFile(cached, "tampered");
  const { code, says } = await buildFresh(directory.path);
  assertEquals(code, 0, says);
  assertEquals((await Deno.stat(cached)).size, 86434392);
});

Deno.test("no registry when the runtime is needed: one sentence and what to do", async () => {
  await using directory = temporaryDirectory();
  await copyTree(directory.path);
  const { code, says } = await buildFresh(directory.path, DEAD_REGISTRY);
  assertEquals(code, 1);
  const problem = says.trim().split("\n").slice(-2);
  assertStringIncludes(
    problem[0] ?? "",
    "Cannot fetch @dgellow/pls-linux-x64@0.7.3: the npm registry",
  );
  assertStringIncludes(problem[1] ?? "", "Check the network");
});

Deno.test("no registry and nothing cached: one sentence and what to do", async () => {
  await using directory = temporaryDirectory();
  await copyTree(directory.path);
  const env = { ...DEAD_REGISTRY, DENO_DIR: `${directory.path}/deno` };
  const { code, says } = await buildFresh(directory.path, env);
  assertEquals(code, 1);
  assertEquals(says.trim().split("\n").length, 2, says);
  assertStringIncludes(says, "Cannot fetch the npm packages of deno.lock");
});

Deno.test("an unknown flag or target of the build is refused with the choices", async () => {
  const target = await build(ROOT, { args: ["--target", "riscv64-linux"] });
  assertEquals(target.code, 1);
  assertStringIncludes(target.says, "aarch64-unknown-linux-gnu");
  const flag = await build(ROOT, { args: ["--fast"] });
  assertEquals(flag.code, 1);
  assertStringIncludes(flag.says, 'Cannot use argument "--fast"');
});
