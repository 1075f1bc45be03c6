/**
 * Makes the plugin's code cache: the bytecode of all its functions, as V8 writes it, so that
 * a pod's start pays for neither parsing nor compiling.
 *
 * V8 puts into a cache what is compiled, and compiles a function when it is first called. The
 * cache is therefore made by a program with `--no-lazy`, which compiles everything at once.
 * V8 accepts a cache only under the flags it was made with, by a hash in its header, so the
 * header gets the hash of a cache that was made with those of the program. Laziness decides when
 * a function is compiled, not what becomes of it. The second maker proves that the result is
 * accepted.
 *
 * A cache is made by the runtime that reads it: a build for another machine has none, and its
 * plugin compiles its script at every start.
 */

import { BuildError, say } from "./build_error.ts";
import { capture, lastLine } from "./command.ts";
import { compile, PROGRAM_FLAGS } from "./compile.ts";
import { type Runtime } from "./runtime.ts";
import { type Target } from "./targets.ts";

/** The cache beside the script. */
export const PLUGIN_CACHE = "plugin.cache";

/** Where `SerializedCodeData` of V8 (`src/snapshot/code-serializer.h`) has the hash of the flags. */
const FLAG_HASH = { start: 12, end: 16 };

/** Compiles everything it is given at once. */
const EAGER = [...PROGRAM_FLAGS, "--no-lazy"];

/** Makes the cache of `script` beside it. `work` is a directory for the programs that do it. */
export async function makeCodeCache(
  script: string,
  options: { work: string; target: Target; runtime: Runtime },
): Promise<void> {
  const { work, target, runtime } = options;
  if (target !== Deno.build.target) {
    say(`code cache: none; a cache for ${target} can only be made on such a machine`);
    return;
  }
  const output = script.replace(/[^/]+$/, PLUGIN_CACHE);
  const [eager, plain] = await Promise.all([
    programWith("eager", EAGER, { work, target, runtime }),
    programWith("plain", PROGRAM_FLAGS, { work, target, runtime }),
  ]);
  const cache = await cacheBy(eager, script, `${work}/eager/cache`);
  const like = await cacheBy(plain, script, `${work}/plain/cache`);
  cache.set(like.subarray(FLAG_HASH.start, FLAG_HASH.end), FLAG_HASH.start);
  await Deno.writeFile(output, cache);
  await runMaker(plain, ["check", script, output]);
  say(`code cache: ${Math.round(cache.length / 1000)} kB`);
}

/** Compiles the maker with V8 flags, in a directory of its own. */
async function programWith(
  name: string,
  v8Flags: readonly string[],
  options: { work: string; target: Target; runtime: Runtime },
): Promise<string> {
  const { work, ...rest } = options;
  const directory = `${work}/${name}`;
  await Deno.mkdir(directory, { recursive: true });
  const entry = `${directory}/maker.ts`;
  await Deno.copyFile(new URL("code_cache_maker.ts", import.meta.url), entry);
  await compile(entry, `${directory}/maker`, { ...rest, v8Flags });
  return `${directory}/maker`;
}

async function cacheBy(maker: string, script: string, output: string): Promise<Uint8Array> {
  await runMaker(maker, ["make", script, output]);
  return await Deno.readFile(output);
}

async function runMaker(maker: string, args: readonly string[]): Promise<void> {
  const { ok, stderr } = await capture(maker, args);
  if (ok) return;
  throw new BuildError(
    `Cannot make the plugin's code cache: ${lastLine(stderr)}`,
    "If Deno was changed, look at the header of V8's code cache (tools/build/code_cache.ts)",
  );
}
