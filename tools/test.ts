/**
 * `deno task test`: everything that proves the tree, on a machine that has only Node.
 *
 * Installs the programs the tests run against, builds the product, runs all tests and
 * doc examples, and closes with `N passed, N failed, N skipped`. Arguments are passed
 * on to `deno test`, so that `deno task test tests/binary` runs a part.
 */

import { PACKAGES_FROM_CACHE } from "./build/command.ts";
import { installMissing } from "./packages.ts";

const REPORT = "dist/tests.xml";

/** All that holds tests or doc examples. */
const EVERYTHING = ["cmd", "lib", "tests", "tools"];

function say(text: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`test: ${text}\n`));
}

async function deno(args: readonly string[]): Promise<boolean> {
  const { success } = await new Deno.Command(Deno.execPath(), { args: [...args], stdin: "null" })
    .spawn().status;
  return success;
}

/** What the runner counted, read from its JUnit report. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/**
 * Sums up the suites of a JUnit report.
 *
 * @example
 * ```ts
 * import { countTests } from "./test.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const report = '<testsuite name="a" tests="5" disabled="1" errors="0" failures="1">';
 * assertEquals(countTests(report), { passed: 3, failed: 1, skipped: 1 });
 * ```
 */
export function countTests(report: string): Counts {
  let [passed, failed, skipped] = [0, 0, 0];
  for (const [suite] of report.matchAll(/<testsuite [^>]*>/g)) {
    const count = (key: string) => Number(new RegExp(` ${key}="(\\d+)"`).exec(suite)?.[1] ?? 0);
    const bad = count("failures") + count("errors");
    passed += count("tests") - bad - count("disabled");
    failed += bad;
    skipped += count("disabled");
  }
  return { passed, failed, skipped };
}

async function main(args: readonly string[]): Promise<number> {
  await installMissing(say);
  if (!await deno(["run", "-A", "tools/build.ts"])) return 1;
  await Deno.remove(REPORT).catch(() => {}); // a report of an earlier run must not be counted
  const paths = args.length > 0 ? args : EVERYTHING;
  const success = await deno([
    "test",
    PACKAGES_FROM_CACHE,
    "-A",
    "--doc",
    `--junit-path=${REPORT}`,
    ...paths,
  ]);
  const counts = countTests(await Deno.readTextFile(REPORT).catch(() => ""));
  // A file that does not even load fails the run without being counted.
  const failed = success ? counts.failed : Math.max(counts.failed, 1);
  const line = `${counts.passed} passed, ${failed} failed, ${counts.skipped} skipped\n`;
  Deno.stdout.writeSync(new TextEncoder().encode(line));
  return success && counts.passed > 0 ? 0 : 1;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
