/**
 * `deno task docs`: writes the reference pages that are made from the code.
 *
 * With `--check` nothing is written; a page that differs from what the code says is
 * an error, so that the reference cannot drift.
 */

import { type Command } from "../lib/cli/command.ts";
import { ROOT } from "../lib/cli/commands.ts";
import { helpText } from "../lib/cli/help.ts";
import { PLAIN } from "../lib/cli/paint.ts";

const CLI_PAGE = "docs/cli.md";

/** The reference of the command line: the help of every command, as it is printed. */
export function cliPage(root: Command): string {
  const sections = (command: Command, path: readonly Command[]): string[] => [
    `## ${path.map((one) => one.name).join(" ")}\n\n\`\`\`\n${helpText(path, PLAIN)}\`\`\``,
    ...(command.commands ?? []).flatMap((next) => sections(next, [...path, next])),
  ];
  return `# Command line

<!-- Made from lib/cli by \`deno task docs\`; do not edit. -->

Results go to standard output, everything else to standard error. Colour appears only on a
terminal, and never when \`NO_COLOR\` is set. With \`CNI_COMMAND\` in the environment the program is
a CNI plugin and reads no argument; called as \`headcni-ipam\` it is the IPAM plugin.

${sections(root, [root]).join("\n\n")}
`;
}

if (import.meta.main) {
  const wanted = cliPage(ROOT);
  if (!Deno.args.includes("--check")) {
    await Deno.writeTextFile(CLI_PAGE, wanted);
  } else if (await Deno.readTextFile(CLI_PAGE).catch(() => "") !== wanted) {
    const text = `docs: ${CLI_PAGE} is not what the code says; run: deno task docs\n`;
    Deno.stderr.writeSync(new TextEncoder().encode(text));
    Deno.exit(1);
  }
}
