/** What the exit status of a command means. Documented in `docs/cli.md`. */

/** Exit codes of every command. */
export const ExitCode = {
  /** It did what was asked. */
  ok: 0,
  /** It tried and failed; standard error says why. */
  failure: 1,
  /** The command line was wrong; nothing was done. */
  usage: 2,
  /** It looked, and found something wrong. */
  findings: 3,
  /** There is no such thing as it was asked about. */
  absent: 4,
} as const;

/** The meaning of the exit codes all commands have, as help and the reference print it. */
export const EXIT_CODES: readonly { readonly code: number; readonly meaning: string }[] = [
  { code: ExitCode.ok, meaning: "success" },
  { code: ExitCode.failure, meaning: "the command failed; standard error says why" },
  { code: ExitCode.usage, meaning: "wrong command line; nothing was done" },
];
