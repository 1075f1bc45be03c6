/** A compiled program that does nothing: what the runtime alone costs. */

import { BuildError } from "./build_error.ts";
import { compile } from "./compile.ts";
import { runtimePin } from "./pins.ts";
import { findRuntime } from "./runtime.ts";
import { isTarget } from "./targets.ts";

/** Compiles it into `directory` and returns its path. */
export async function compileEmpty(directory: string): Promise<string> {
  const { target } = Deno.build;
  if (!isTarget(target)) {
    throw new BuildError(`Cannot compile for ${target}`, "Use one of the machines we build for");
  }
  await Deno.mkdir(`${directory}/source`);
  await Deno.writeTextFile(`${directory}/source/empty.js`, "");
  const output = `${directory}/empty`;
  const runtime = await findRuntime(target, runtimePin(target));
  await compile(`${directory}/source/empty.js`, output, { target, runtime });
  return output;
}
