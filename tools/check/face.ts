/** What the CNI plugin loads: the static closure of the entry and of its plugin faces. */

import { FACE, type FaceRule } from "./import_rules.ts";
import type { Import, ModuleGraph } from "./module_graph.ts";
import { isPackage, packageName } from "./package_name.ts";
import type { Problem } from "./problem.ts";

/** How a module got into the closure. */
interface Step {
  readonly path: string;
  readonly from: Step | undefined;
}

/**
 * Checks that nothing banned is loaded statically on the way to the plugin's answer.
 *
 * A face that does not exist, or that neither the entry nor another face imports, is a
 * problem too: the rule would otherwise hold for an empty set.
 */
export function checkFace(graph: ModuleGraph, rule: FaceRule = FACE): Problem[] {
  const missing = [rule.entry, ...rule.faces].filter((path) => !isReadable(graph, path));
  if (missing.length > 0) return missing.map((path) => missingFace(path));
  const importers = [rule.entry, ...rule.faces].flatMap((path) => graph.get(path)?.imports ?? []);
  const strayed = rule.faces.filter((face) =>
    !importers.some(({ target, kind }) => target === face && kind !== "type")
  );
  return [...strayed.map((face) => strayFace(face, rule)), ...bannedInClosure(graph, rule)];
}

function isReadable(graph: ModuleGraph, path: string): boolean {
  const module = graph.get(path);
  return module !== undefined && module.error === undefined;
}

function bannedInClosure(graph: ModuleGraph, rule: FaceRule): Problem[] {
  const problems: Problem[] = [];
  const queue: Step[] = [rule.entry, ...rule.faces].map((path) => ({ path, from: undefined }));
  const seen = new Set(queue.map(({ path }) => path));
  for (let step = queue.shift(); step !== undefined; step = queue.shift()) {
    for (const entry of graph.get(step.path)?.imports ?? []) {
      if (entry.kind !== "static") continue;
      const banned = bannedName(entry, rule);
      if (banned !== undefined) {
        problems.push(bannedImport(step, entry, { banned, rule }));
      } else if (entry.target !== undefined && !seen.has(entry.target)) {
        seen.add(entry.target);
        queue.push({ path: entry.target, from: step });
      }
    }
  }
  return problems;
}

/** What is banned about `entry`: the file or the package it names. */
function bannedName({ specifier, target }: Import, rule: FaceRule): string | undefined {
  const names = [target, isPackage(specifier) ? packageName(specifier) : undefined];
  return names.find((name) => name !== undefined && rule.banned.some((ban) => covers(ban, name)));
}

function covers(ban: string, name: string): boolean {
  return ban.endsWith("/") ? name.startsWith(ban) : name === ban;
}

function bannedImport(
  step: Step,
  entry: Import,
  options: { banned: string; rule: FaceRule },
): Problem {
  const { banned, rule } = options;
  const chain = [banned];
  for (let at: Step | undefined = step; at !== undefined; at = at.from) chain.unshift(at.path);
  return {
    path: step.path,
    line: entry.line,
    rule: "face",
    what: `the CNI plugin loads ${banned} (${chain.join(" → ")})`,
    why: rule.reason,
    instead: rule.instead,
  };
}

function missingFace(path: string): Problem {
  return {
    path,
    line: 1,
    rule: "face",
    what: "there is no such module",
    why: "the plugin's imports cannot be checked without it",
    instead: "correct FACE in tools/check/import_rules.ts or pass --entry and --face",
  };
}

function strayFace(path: string, rule: FaceRule): Problem {
  return {
    path: rule.entry,
    line: 1,
    rule: "face",
    what: `does not import ${path}`,
    why: "the check would look at something the plugin never runs",
    instead: `import it, or name the right face in tools/check/import_rules.ts`,
  };
}
