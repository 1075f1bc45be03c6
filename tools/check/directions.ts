/** Rules about a single import: its direction, its package, and who may use fakes. */

import {
  BANS,
  EXCEPTIONS,
  FAKE_USERS,
  LAYER_REASON,
  LAYERS,
  OUTSIDE,
  PACKAGES,
  TEST_FILES,
} from "./import_rules.ts";
import type { Import, Module, ModuleGraph } from "./module_graph.ts";
import { isPackage, packageName } from "./package_name.ts";
import type { Problem } from "./problem.ts";

/** What a rule says about an import; the place is added by {@linkcode checkImports}. */
type Finding = Pick<Problem, "rule" | "what" | "why" | "instead">;

/** The first that objects speaks: the later ones would say the same in other words. */
const RULES: readonly ((
  module: Module,
  entry: Import,
  graph: ModuleGraph,
) => Finding | undefined)[] = [unresolved, direction, fake, owner];

/** Checks every import of every module against the rules of `import_rules.ts`. */
export function checkImports(graph: ModuleGraph): Problem[] {
  const problems: Problem[] = [];
  for (const module of graph.values()) {
    const unknown = unknownFolder(module.path);
    if (unknown !== undefined) problems.push({ path: module.path, line: 1, ...unknown });
    for (const entry of module.imports) {
      const finding = RULES.map((rule) => rule(module, entry, graph)).find((found) => found);
      if (finding !== undefined) problems.push({ path: module.path, line: entry.line, ...finding });
    }
  }
  return problems;
}

function unknownFolder(path: string): Finding | undefined {
  if (!path.startsWith("lib/") || rowOf(path) !== undefined) return undefined;
  return {
    rule: "layer",
    what: `lib/${folderOf(path) ?? ""} has no place in the layers`,
    why: LAYER_REASON,
    instead: "move the file, or add its folder to LAYERS in tools/check/import_rules.ts",
  };
}

/** A graph with holes proves nothing about what is behind them. */
function unresolved(_module: Module, entry: Import, graph: ModuleGraph): Finding | undefined {
  const target = entry.target === undefined ? undefined : graph.get(entry.target);
  const reason = entry.error ?? target?.error;
  if (reason === undefined) return undefined;
  return {
    rule: "graph",
    what: `"${entry.specifier}" leads nowhere (${reason.split("\n")[0]})`,
    why: "the rules cannot see what is behind it",
    instead: "correct the import or the file it names",
  };
}

function direction(module: Module, entry: Import): Finding | undefined {
  const { target } = entry;
  if (target === undefined) return undefined;
  return leavesProduct(module.path, target) ?? breaksLayer(module.path, target);
}

function leavesProduct(from: string, to: string): Finding | undefined {
  const [fromTop, toTop] = [topOf(from), topOf(to)];
  if (fromTop === "lib" && toTop === "cmd") {
    return {
      rule: "layer",
      what: `lib imports ${to}`,
      why: LAYER_REASON,
      instead: "let cmd call lib and pass it what it needs",
    };
  }
  const reason = OUTSIDE[toTop];
  if (reason === undefined || (fromTop !== "lib" && fromTop !== "cmd")) return undefined;
  return {
    rule: "outside",
    what: `${fromTop} imports ${to}`,
    why: reason,
    instead: `move what ${fromTop} needs into lib`,
  };
}

function breaksLayer(from: string, to: string): Finding | undefined {
  const [fromFolder, toFolder] = [folderOf(from), folderOf(to)];
  if (fromFolder === undefined || toFolder === undefined || fromFolder === toFolder) {
    return undefined;
  }
  if (EXCEPTIONS.some(({ from, file }) => from === fromFolder && file === to)) return undefined;
  const [fromRow, toRow] = [rowOf(from), rowOf(to)];
  // A test may borrow the fakes of a neighbour in its own row: nothing of it ships.
  if (fromRow === toRow && isTesting(to) && usesFakes(from)) return undefined;
  const what = `lib/${fromFolder} imports ${to}`;
  const ban = BANS.find((ban) => ban.from === fromFolder && ban.to.includes(toFolder));
  if (ban !== undefined) return { rule: "ban", what, why: ban.reason, instead: ban.instead };
  if (fromRow === undefined || toRow === undefined || fromRow < toRow) return undefined;
  return {
    rule: "layer",
    what,
    why: LAYER_REASON,
    instead: "move the shared part below both, or pass it in as a parameter",
  };
}

/** Fakes and tests stay out of the product. */
function fake(module: Module, entry: Import): Finding | undefined {
  const { target } = entry;
  if (target === undefined) return undefined;
  if (target.endsWith("_test.ts")) {
    return {
      rule: "testing",
      what: `imports the test ${target}`,
      why: "its tests would run again as part of this file",
      instead: "move the shared part into a testing.ts",
    };
  }
  if (!isTesting(target) || usesFakes(module.path)) return undefined;
  return {
    rule: "testing",
    what: `imports the fakes of ${target}`,
    why: "fakes are for tests and must not be shipped",
    instead: "import the real implementation, or make this file a test",
  };
}

function owner(module: Module, entry: Import): Finding | undefined {
  if (!isPackage(entry.specifier)) return undefined;
  const name = packageName(entry.specifier);
  const listed = PACKAGES.find((owned) => owned.name === name);
  if (listed === undefined) {
    // Other built-ins are the business of the effect-boundary lint rule.
    if (name.startsWith("node:")) return undefined;
    return {
      rule: "package",
      what: `package ${name} has no owner`,
      why: "every package is a part of the product somebody answers for",
      instead: "do without it, or add it to PACKAGES in tools/check/import_rules.ts with a reason",
    };
  }
  if (OUTSIDE[topOf(module.path)] !== undefined) return undefined;
  const owned = listed.owners.some((prefix) =>
    prefix === TEST_FILES ? usesFakes(module.path) : module.path.startsWith(prefix)
  );
  if (owned) return undefined;
  return {
    rule: "package",
    what: `imports ${name}`,
    why: listed.reason,
    instead: `use what ${listed.owners.join(", ")} exports`,
  };
}

function usesFakes(path: string): boolean {
  return path.endsWith("_test.ts") || isTesting(path) ||
    Object.keys(FAKE_USERS).some((folder) => path.startsWith(folder));
}

function isTesting(path: string): boolean {
  return path.endsWith("/testing.ts");
}

function topOf(path: string): string {
  return path.split("/", 1)[0] ?? "";
}

/** `cni` for `lib/cni/add.ts`, `undefined` outside of a folder of `lib/`. */
function folderOf(path: string): string | undefined {
  return /^lib\/([^/]+)\//.exec(path)?.[1];
}

function rowOf(path: string): number | undefined {
  const folder = folderOf(path);
  const row = LAYERS.findIndex((folders) => folders.some((name) => name === folder));
  return row < 0 ? undefined : row;
}
