/**
 * Cycles between files.
 *
 * Imports of types alone are left out: they are erased, so they cannot make a
 * module see another half-evaluated, and two types may well describe each other.
 * Dynamic imports count: they are as much of a knot for the reader.
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
      if (target === undefined || kind === "type" || done.has(target)) continue;
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
