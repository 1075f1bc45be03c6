/**
 * Cycles between files.
 *
 * Only static imports of values count: they decide the order in which modules are
 * evaluated. Types are erased, and two of them may well describe each other; an
 * `import()` runs when both files are long evaluated (a table of commands loads a
 * command that prints the table). Directions hold for those all the same.
 */

import type { ModuleGraph } from "./module_graph.ts";
import type { Problem } from "./problem.ts";

/** One problem for each import that closes a cycle, at the line of that import. */
export function checkCycles(graph: ModuleGraph): Problem[] {
  const problems: Problem[] = [];
  const done = new Set<string>();
  const trail: string[] = [];

  function visit(path: string): void {
    trail.push(path);
    for (const { target, kind, line } of graph.get(path)?.imports ?? []) {
      if (target === undefined || kind !== "static" || done.has(target)) continue;
      const start = trail.indexOf(target);
      if (start < 0) visit(target);
      else problems.push(closedBy(path, line, [...trail.slice(start), target]));
    }
    trail.pop();
    done.add(path);
  }

  for (const path of [...graph.keys()].sort()) if (!done.has(path)) visit(path);
  return problems;
}

function closedBy(path: string, line: number, cycle: readonly string[]): Problem {
  return {
    path,
    line,
    rule: "cycle",
    what: `imports in a circle: ${cycle.join(" → ")}`,
    why: "whichever file loads first sees the other half-evaluated",
    instead: "move the shared part into a file both import",
  };
}
