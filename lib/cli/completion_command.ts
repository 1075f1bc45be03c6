/** `headcni completion`: a script for the reader's shell. */

import { type Invocation, type Output } from "./command.ts";
import { ROOT } from "./commands.ts";
import { bashScript } from "./completion/bash.ts";
import { fishScript } from "./completion/fish.ts";
import { type Place, places } from "./completion/places.ts";
import { zshScript } from "./completion/zsh.ts";
import { ExitCode } from "./exit_code.ts";

const SCRIPTS: Readonly<Record<string, (program: string, places: readonly Place[]) => string>> = {
  bash: bashScript,
  fish: fishScript,
  zsh: zshScript,
};

/** Prints the script of the shell named; the parser has checked the name. */
export function run(invocation: Invocation, output: Output): number {
  const script = SCRIPTS[invocation.positionals[0] ?? ""];
  if (script === undefined) return ExitCode.usage;
  output.stdout.write(script(ROOT.name, places(ROOT)));
  return ExitCode.ok;
}
