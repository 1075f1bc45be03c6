/**
 * The face a person sees: commands, flags, help, completion.
 *
 * Commands are data (`command.ts`); parsing, help, completion scripts and the
 * reference in `docs/cli.md` are all made from the same table.
 *
 * @module
 */

export { type Command, type Flag, type Positional } from "./command.ts";
export { ROOT } from "./commands.ts";
export { runCommandLine, type Terminal } from "./command_line.ts";
export { ExitCode } from "./exit_code.ts";
export { UsageError } from "./usage_error.ts";
