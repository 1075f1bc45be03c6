/** Turns the bundle into one executable file. */

import { BuildError } from "./build_error.ts";
import { capture } from "./command.ts";
import { type Runtime } from "./runtime.ts";
import { type Target } from "./targets.ts";

/**
 * The program may do everything. It runs as root, and Deno opens `/proc` and `/sys`,
 * where network namespaces and sysctls live, to nothing less; a shorter list makes
 * `/proc/self/cmdline` unreadable. `--no-remote` and `--no-npm` below keep it from
 * loading code it was not built with.
 */
const PERMISSIONS = "--allow-all";

/**
 * Without `--no-code-cache` the program would read `/tmp/deno-compile-<name>.cache`
 * as root, a file any local user can plant.
 */
const SETTINGS = [
  "--quiet",
  "--no-check",
  "--no-code-cache",
  "--no-config",
  "--no-lock",
  "--no-npm",
  "--no-prompt",
  "--no-remote",
];

/**
 * What V8 is told in the program. No threads of its own: they are made at every start, and a
 * process with more than one pays for each change of its memory map on all of them. A plugin
 * that lives for milliseconds never uses them, and the daemon's heap is small.
 */
export const PROGRAM_FLAGS: readonly string[] = ["--single-threaded"];

/** Compiles `entry`, embedding its whole directory, and returns the bytes of the program. */
export async function compile(
  entry: string,
  output: string,
  options: { target: Target; runtime: Runtime; v8Flags?: readonly string[] },
): Promise<Uint8Array<ArrayBuffer>> {
  const { target, runtime, v8Flags = [] } = options;
  const directory = entry.slice(0, entry.lastIndexOf("/"));
  const { ok, stderr } = await capture(Deno.execPath(), [
    "compile",
    ...SETTINGS,
    PERMISSIONS,
    `--target=${target}`,
    ...v8Flags.length > 0 ? [`--v8-flags=${v8Flags.join(",")}`] : [],
    `--include=${directory}`,
    `--output=${output}`,
    entry,
  ], {
    env: {
      // An empty value counts as unset: Deno then downloads the runtime itself.
      DENORT_BIN: runtime.path ?? "",
      // deno compile overflows its stack on large graphs otherwise.
      RUST_MIN_STACK: "67108864",
    },
  });
  if (!ok) {
    throw new BuildError(
      `Cannot compile the program:\n${stderr.trim()}`,
      "Correct the error above",
    );
  }
  return await Deno.readFile(output);
}
