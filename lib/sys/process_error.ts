/** Why another program could not be run to a good end. */

import { HeadcniError } from "./errors.ts";

/**
 * - `NotFound`: there is no such program.
 * - `NotExecutable`: there is, but it must not or cannot be executed.
 * - `NotStarted`: the system refused for another reason.
 * - `Deadline`: it ran too long and was stopped.
 * - `OutputTooLarge`: it wrote more than was asked for and was stopped.
 * - `Failed`: it ended with another status than 0.
 */
export type ProcessErrorKind =
  | "NotFound"
  | "NotExecutable"
  | "NotStarted"
  | "Deadline"
  | "OutputTooLarge"
  | "Failed";

/** What a {@linkcode ProcessError} is made of. */
export interface ProcessErrorParts {
  readonly kind: ProcessErrorKind;
  readonly command: string;
  readonly args: readonly string[];
  readonly reason: string;
  /** What the program said last; its end is quoted in the message. */
  readonly output?: string;
  /** Exit status, for `Failed`. */
  readonly code?: number;
  readonly remedy?: string;
  readonly cause?: unknown;
}

/** Another program that could not be started, was stopped, or failed. */
export class ProcessError extends HeadcniError {
  override readonly name = "ProcessError";
  readonly kind: ProcessErrorKind;
  readonly command: string;
  /** Exit status, for `Failed`. */
  readonly code: number | undefined;

  constructor(parts: ProcessErrorParts) {
    const said = tail(parts.output ?? "");
    super({
      operation: "run",
      subject: commandLine(parts.command, parts.args),
      reason: said === "" ? parts.reason : `${parts.reason}: ${said}`,
      cause: parts.cause,
      ...(parts.remedy === undefined ? {} : { remedy: parts.remedy }),
    });
    this.kind = parts.kind;
    this.command = parts.command;
    this.code = parts.code;
  }
}

const MAX_COMMAND_LINE = 200;
const MAX_TAIL = 400;

function commandLine(command: string, args: readonly string[]): string {
  const line = [command, ...args]
    .map((word) => /^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word))
    .join(" ");
  return line.length <= MAX_COMMAND_LINE ? line : `${line.slice(0, MAX_COMMAND_LINE)}…`;
}

/** The end of `output` on one line: programs say what went wrong last. */
function tail(output: string): string {
  // deno-lint-ignore no-control-regex
  const line = output.replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, " ").trim();
  return line.length <= MAX_TAIL ? line : `…${line.slice(-MAX_TAIL)}`;
}

/** What {@linkcode spawnError} needs to know about the attempt. */
export interface SpawnAttempt {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string | undefined;
}

/** `error`, thrown on spawning a program, as a {@linkcode ProcessError}. */
export function spawnError(attempt: SpawnAttempt, error: unknown): ProcessError {
  const { command, args, cwd } = attempt;
  const fail = (kind: ProcessErrorKind, reason: string, remedy?: string) =>
    new ProcessError({
      kind,
      command,
      args,
      reason,
      cause: error,
      ...(remedy === undefined ? {} : { remedy }),
    });
  if (error instanceof Deno.errors.PermissionDenied) {
    return fail("NotExecutable", "permission is denied", `ls -l ${command}; chmod +x ${command}`);
  }
  if (error instanceof Deno.errors.NotFound) {
    // execve(2) answers ENOENT for three things; say which.
    if (cwd !== undefined && !exists(cwd)) {
      return fail("NotStarted", `the directory ${cwd} does not exist`);
    }
    if (!command.includes("/")) {
      return fail("NotFound", "it is not in PATH", `Install ${command}, or add it to PATH`);
    }
    return exists(command)
      ? fail("NotExecutable", "the interpreter it names does not exist")
      : fail("NotFound", "it does not exist");
  }
  // A bad argument or a missing permission of ours is a bug, not a state of the machine.
  if (!(error instanceof Error) || error instanceof TypeError) throw error;
  if (error instanceof Deno.errors.NotCapable) throw error;
  return fail("NotStarted", error.message);
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}
