/** What a check finds, and how it says so: one line per problem, ready for an editor to jump to. */

/** One broken rule at one place. */
export interface Problem {
  /** Path from the root of the tree, with `/`. */
  readonly path: string;
  /** Counted from 1. */
  readonly line: number;
  /** Short name of the rule, the same in every message about it. */
  readonly rule: string;
  /** What is wrong there. */
  readonly what: string;
  /** The reason the rule exists. */
  readonly why: string;
  /** What to do about it. */
  readonly instead: string;
}

/** The outcome of one check over a tree. */
export interface Report {
  /** How many files were looked at: a check that saw none proves nothing. */
  readonly files: number;
  readonly problems: readonly Problem[];
}

/**
 * `path:line: rule: what, why, what instead`.
 *
 * @example
 * ```ts
 * import { formatProblem } from "./problem.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const line = formatProblem({
 *   path: "lib/ip/prefix.ts",
 *   line: 3,
 *   rule: "size",
 *   what: "412 lines",
 *   why: "a file has one job",
 *   instead: "split it by meaning",
 * });
 * assertEquals(line, "lib/ip/prefix.ts:3: size: 412 lines, a file has one job, split it by meaning");
 * ```
 */
export function formatProblem(problem: Problem): string {
  const { path, line, rule, what, why, instead } = problem;
  return `${path}:${line}: ${rule}: ${what}, ${why}, ${instead}`;
}

/** Everything a check prints: its problems by place, then one line that sums up. */
export function formatReport(check: string, report: Report): string {
  const lines = [...report.problems].sort(byPlace).map(formatProblem);
  const [files, problems] = [count(report.files, "file"), count(lines.length, "problem")];
  return [...lines, `${check}: ${files}, ${problems}`].join("\n");
}

function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? "" : "s"}`;
}

function byPlace(a: Problem, b: Problem): number {
  return a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1;
}
