/** The end of every check: print what was found, say by the exit code whether it is good. */

import { formatReport, type Report } from "./problem.ts";
import { CheckError } from "./source_tree.ts";

/**
 * Runs `check` and ends the program: 0 when the tree is clean, else 1.
 *
 * A tree without a single file counts as broken: the check was pointed at the wrong place.
 */
export async function runCheck(name: string, check: () => Promise<Report>): Promise<never> {
  try {
    const report = await check();
    const clean = report.problems.length === 0 && report.files > 0;
    print(clean ? Deno.stdout : Deno.stderr, formatReport(name, report));
    Deno.exit(clean ? 0 : 1);
  } catch (error) {
    if (!(error instanceof CheckError)) throw error;
    print(Deno.stderr, `${name}: ${error.message}`);
    Deno.exit(1);
  }
}

function print(output: Pick<typeof Deno.stdout, "writeSync">, text: string): void {
  output.writeSync(new TextEncoder().encode(`${text}\n`));
}
