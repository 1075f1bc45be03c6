/**
 * Makes the plugin's code cache: the bytecode of the functions that ADD and DEL need, as V8
 * writes it, so that a pod's start pays for neither parsing nor compiling.
 *
 * V8 puts into a cache what is compiled, and compiles a function when it is first called. So the
 * plugin is called, with stand-ins for all that is real (`rehearsal/`), by the runtime that will
 * read the cache and under its flags: V8 accepts no other. With all functions it was twice as
 * large, and took a millisecond more to read than the others are ever worth.
 *
 * A build for another machine has no cache: its plugin compiles its script at every start.
 */

import { BuildError, say } from "./build_error.ts";
import { bundle } from "./bundle.ts";
import { capture, lastLine } from "./command.ts";
import { compile, PROGRAM_FLAGS } from "./compile.ts";
import { type Runtime } from "./runtime.ts";
import { type Target } from "./targets.ts";

/** The cache beside the script. */
export const PLUGIN_CACHE = "plugin.cache";

/** Makes the cache of `script` beside it. `work` is a directory for the program that does it. */
export async function makeCodeCache(
  script: string,
  options: { work: string; target: Target; runtime: Runtime },
): Promise<void> {
  const { work, target, runtime } = options;
  if (target !== Deno.build.target) {
    say(`code cache: none; a cache for ${target} can only be made on such a machine`);
    return;
  }
  const source = new URL("code_cache_maker.ts", import.meta.url).pathname;
  const entry = await bundle(source, `${work}/maker`);
  const maker = `${work}/make_code_cache`;
  await compile(entry, maker, { target, runtime, v8Flags: PROGRAM_FLAGS });
  const output = script.replace(/[^/]+$/, PLUGIN_CACHE);
  const store = await Deno.makeTempDir({ prefix: "headcni-build-" });
  try {
    const { ok, stderr } = await capture(maker, [script, output, store]);
    if (!ok) {
      throw new BuildError(
        `Cannot make the plugin's code cache: ${lastLine(stderr)}`,
        "If the plugin asks the kernel something new, teach it to tools/build/rehearsal",
      );
    }
  } finally {
    await Deno.remove(store, { recursive: true });
  }
  say(`code cache: ${Math.round((await Deno.stat(output)).size / 1000)} kB`);
}
