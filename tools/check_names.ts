/**
 * Checks how files are named, where tests stand, how long files are, and that no
 * left-overs stay in the tree. The rules are data in `check/name_rules.ts`.
 *
 * ```sh
 * deno run --allow-read --allow-run=git tools/check_names.ts [root]
 * ```
 */

import { checkPaths, checkText } from "./check/names.ts";
import type { Problem, Report } from "./check/problem.ts";
import { runCheck } from "./check/run_check.ts";
import { listFiles } from "./check/source_tree.ts";

/** Checks all files of the git tree at `root`. */
export async function checkNameTree(root: string): Promise<Report> {
  const paths = await listFiles(root);
  const problems: Problem[] = checkPaths(paths);
  for (const path of paths) {
    const text = await readText(`${root}/${path}`);
    if (text !== undefined) problems.push(...checkText(path, text));
  }
  return { files: paths.length, problems };
}

/** `undefined` for a binary file, which git too tells by a zero byte. */
async function readText(path: string): Promise<string | undefined> {
  const bytes = await Deno.readFile(path);
  return bytes.includes(0) ? undefined : new TextDecoder().decode(bytes);
}

if (import.meta.main) {
  await runCheck("check_names", () => checkNameTree(Deno.args[0] ?? "."));
}
