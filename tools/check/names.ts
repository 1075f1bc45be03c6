/** Rules about single files and about folders of `lib/`; all of them pure. */

import { BANNED_WORDS, CONSTANT_TABLES, FILE_NAME, LEFT_OVERS, MAX_LINES } from "./name_rules.ts";
import type { Problem } from "./problem.ts";

/** Problems of the paths alone: spelling, words, tests without a subject, folders without a door. */
export function checkPaths(paths: readonly string[]): Problem[] {
  const all = new Set(paths);
  const sources = paths.filter((path) => path.endsWith(".ts"));
  return [
    ...sources.flatMap((path) => [
      ...checkSpelling(path),
      ...checkWords(path),
      ...checkTestPlace(path, all),
    ]),
    ...checkDoors(sources, all),
  ];
}

/** Problems of the text of one file. */
export function checkText(path: string, text: string): Problem[] {
  const problems = checkLeftOvers(path, text);
  if (!path.endsWith(".ts")) return problems;
  return [...problems, ...checkSize(path, text), ...checkModuleDoc(path, text)];
}

function checkSpelling(path: string): Problem[] {
  if (FILE_NAME.test(baseOf(path))) return [];
  return [{
    path,
    line: 1,
    rule: "case",
    what: `"${baseOf(path)}" is not snake_case`,
    why: "names are guessed more often than looked up",
    instead: "write small letters and digits, words joined by _",
  }];
}

function checkWords(path: string): Problem[] {
  const words = path.replace(/\.ts$/, "").split(/[/_.-]/);
  return BANNED_WORDS.filter((word) => words.includes(word)).map((word) => ({
    path,
    line: 1,
    rule: "word",
    what: `"${word}" in the name`,
    why: "it says nothing about what is inside, so everything ends up there",
    instead: "name the thing it is or the verb it does",
  }));
}

function checkTestPlace(path: string, all: ReadonlySet<string>): Problem[] {
  if (!path.endsWith("_test.ts") || path.startsWith("tests/")) return [];
  const subject = path.replace(/_test\.ts$/, ".ts");
  if (all.has(subject)) return [];
  return [{
    path,
    line: 1,
    rule: "test-place",
    what: `there is no ${baseOf(subject)} beside it`,
    why: "a unit test is found by the name of what it tests",
    instead: "rename it after its subject, or move it to tests/",
  }];
}

function checkDoors(sources: readonly string[], all: ReadonlySet<string>): Problem[] {
  const folders = new Set(sources.flatMap((path) => /^lib\/[^/]+(?=\/)/.exec(path) ?? []));
  return [...folders].filter((folder) => !all.has(`${folder}/mod.ts`)).map((folder) => ({
    path: `${folder}/mod.ts`,
    line: 1,
    rule: "mod",
    what: "there is no such file",
    why: "a folder of lib says in one place what it is for and what it exports",
    instead: "add it, with a module doc and named exports",
  }));
}

function checkModuleDoc(path: string, text: string): Problem[] {
  if (!/^lib\/[^/]+\/mod\.ts$/.test(path)) return [];
  const doc = /^\/\*\*(.*?)\*\//s.exec(text)?.[1]?.replaceAll(/[\s*]/g, "");
  if (doc) return [];
  return [{
    path,
    line: 1,
    rule: "mod",
    what: "does not begin with a doc comment",
    why: "a reader of the folder starts here",
    instead: "begin the file with /** what the folder is for */",
  }];
}

function checkSize(path: string, text: string): Problem[] {
  const lines = text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
  if (lines <= MAX_LINES) return [];
  if (!CONSTANT_TABLES.test(path)) {
    return [{
      path,
      line: MAX_LINES + 1,
      rule: "size",
      what: `${lines} lines, ${MAX_LINES} are allowed`,
      why: "a file has one job and is read in one sitting",
      instead: "split it by meaning",
    }];
  }
  const code = text.split("\n").findIndex((line) =>
    /^(export )?(default )?(abstract |async )?(function|class) /.test(line)
  );
  if (code < 0) return [];
  return [{
    path,
    line: code + 1,
    rule: "size",
    what: "code in a table of constants",
    why: `only data may be longer than ${MAX_LINES} lines`,
    instead: "move the code into a file of its own",
  }];
}

function checkLeftOvers(path: string, text: string): Problem[] {
  const lines = text.split("\n");
  return LEFT_OVERS.flatMap(({ rule, pattern, why, instead }) =>
    lines.flatMap((content, index) => {
      const found = pattern.exec(content)?.[0];
      return found === undefined
        ? []
        : [{ path, line: index + 1, rule, what: `"${found}"`, why, instead }];
    })
  );
}

function baseOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
