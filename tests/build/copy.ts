/** Copies of the tree for builds that change it. */

import { assert } from "@std/assert";

const ROOT = new URL("../..", import.meta.url).pathname;

/** What the build needs of the tree. */
const PARTS = ["cmd", "lib", "tools", "types", "deno.json", "deno.lock"];

/** Copies what the build needs into `directory`, which exists. */
export async function copyTree(directory: string): Promise<void> {
  const { success } = await new Deno.Command("cp", {
    args: ["-r", ...PARTS.map((part) => `${ROOT}${part}`), directory],
  }).output();
  assert(success);
}

/** How a build ended. */
export interface BuildEnding {
  readonly code: number;
  /** What it said, all of it. */
  readonly says: string;
}

/** Builds the tree in `directory`; `env` is added to the environment of the tests. */
export async function build(
  directory: string,
  options: { env?: Record<string, string>; args?: string[] } = {},
): Promise<BuildEnding> {
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "tools/build.ts", ...options.args ?? ["--runtime=npm"]],
    cwd: directory,
    env: { NO_COLOR: "1", ...options.env },
  }).output();
  return { code, says: new TextDecoder().decode(stderr) };
}
