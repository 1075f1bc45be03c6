/**
 * Checks who imports whom: layers, bans, package owners, fakes, cycles, and what
 * the CNI plugin loads. The rules are data in `check/import_rules.ts`.
 *
 * ```sh
 * deno run --allow-read --allow-write --allow-run tools/check_imports.ts [root] \
 *   [--entry cmd/headcni.ts] [--face lib/cni/plugin_face.ts]...
 * ```
 */

import { checkCycles } from "./check/cycles.ts";
import { checkImports } from "./check/directions.ts";
import { checkFace } from "./check/face.ts";
import { FACE, type FaceRule } from "./check/import_rules.ts";
import { loadModuleGraph, type ModuleGraph } from "./check/module_graph.ts";
import type { Problem, Report } from "./check/problem.ts";
import { runCheck } from "./check/run_check.ts";
import { listFiles } from "./check/source_tree.ts";
import { parseArgs } from "@std/cli/parse-args";

/** Files that can import others. */
const SOURCE = /\.(ts|tsx|mts|js|mjs)$/;

/** What {@linkcode checkImportTree} can be told. */
export interface CheckImportOptions {
  /**
   * What the plugin may load.
   *
   * @default {FACE}
   */
  readonly face?: FaceRule;
}

/** Checks the modules of the git tree at `root`, tests and tools included. */
export async function checkImportTree(
  root: string,
  options: CheckImportOptions = {},
): Promise<Report> {
  const { face = FACE } = options;
  const paths = (await listFiles(root)).filter((path) => SOURCE.test(path));
  const graph = await loadModuleGraph(root, paths);
  return {
    files: graph.size,
    problems: [
      ...unreadable(graph),
      ...checkImports(graph),
      ...checkCycles(graph),
      ...checkFace(graph, face),
    ],
  };
}

function unreadable(graph: ModuleGraph): Problem[] {
  return [...graph.values()].flatMap(({ path, error }) =>
    error === undefined || error.startsWith("Module not found") ? [] : [{
      path,
      line: Number(/:(\d+):\d+/.exec(error)?.[1] ?? 1),
      rule: "graph",
      what: `cannot be read (${error.split("\n")[0]})`,
      why: "the rules cannot see what it imports",
      instead: "correct the file",
    }]
  );
}

function faceFrom(args: readonly string[]): { root: string; face: FaceRule } {
  const flags = parseArgs(args, { string: ["entry", "face"], collect: ["face"] });
  const faces = Array.isArray(flags.face) ? flags.face.map(String) : [];
  return {
    root: String(flags._[0] ?? "."),
    face: {
      ...FACE,
      entry: typeof flags.entry === "string" ? flags.entry : FACE.entry,
      faces: faces.length > 0 ? faces : FACE.faces,
    },
  };
}

if (import.meta.main) {
  const { root, face } = faceFrom(Deno.args);
  await runCheck("check_imports", () => checkImportTree(root, { face }));
}
