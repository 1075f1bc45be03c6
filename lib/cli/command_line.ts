/** Runs what a person typed: the one place that prints usage errors and picks the exit code. */

import { describeError, HeadcniError } from "../sys/errors.ts";
import { type Command, type Output, type Run } from "./command.ts";
import { ROOT } from "./commands.ts";
import { ExitCode } from "./exit_code.ts";
import { helpHint, helpText } from "./help.ts";
import { choosePaint, type Paint } from "./paint.ts";
import { parseCommandLine, type Parsed } from "./parse.ts";
import { nearest, UsageError } from "./usage_error.ts";

/** A stream that may be a terminal. */
export interface TerminalStream {
  write(text: string): void;
  readonly isTerminal: boolean;
}

/** What the command line touches. */
export interface Terminal {
  readonly stdout: TerminalStream;
  readonly stderr: TerminalStream;
  /** Whether `NO_COLOR` is set and not empty. */
  readonly noColor: boolean;
  /** The value of an environment variable. */
  env(name: string): string | undefined;
}

/** Runs the command that `args` names and returns the exit code. */
export async function runCommandLine(args: readonly string[], terminal: Terminal): Promise<number> {
  const parsed = parseCommandLine(ROOT, args);
  const paintFor = (stream: TerminalStream): Paint =>
    choosePaint({
      when: parsed.invocation.value("color") ?? "auto",
      noColor: terminal.noColor,
      isTerminal: stream.isTerminal,
    });
  const output: Output = { ...terminal, paint: paintFor(terminal.stdout) };
  try {
    if (args.length === 0) {
      // Called bare, perhaps by a program that expects CNI output: keep its stdout empty.
      const stream = terminal.stdout.isTerminal ? terminal.stdout : terminal.stderr;
      stream.write(helpText([ROOT], paintFor(stream)));
      return ExitCode.ok;
    }
    return await carryOut(parsed, output);
  } catch (error) {
    return reportError(error, parsed, {
      stream: terminal.stderr,
      paint: paintFor(terminal.stderr),
    });
  }
}

async function carryOut(parsed: Parsed, output: Output): Promise<number> {
  const { path, command, invocation } = parsed;
  if (invocation.has("help")) {
    output.stdout.write(helpText(path, output.paint));
    return ExitCode.ok;
  }
  if (parsed.problem !== undefined) throw parsed.problem;
  if (command.name === "help") {
    output.stdout.write(helpText(pathTo(invocation.positionals[0]), output.paint));
    return ExitCode.ok;
  }
  const { run } = await loadRun(parsed);
  return await run(invocation, output);
}

/** What carries out the parsed command: its own code, or `version` for `headcni --version`. */
async function loadRun({ path, command, invocation }: Parsed): Promise<{ run: Run }> {
  if (command.load !== undefined) return await command.load();
  if (invocation.has("version")) return await import("./version_command.ts");
  throw new UsageError(path.map((one) => one.name).join(" "), "a command is missing");
}

function pathTo(name: string | undefined): readonly Command[] {
  if (name === undefined) return [ROOT];
  const commands = ROOT.commands ?? [];
  const command = commands.find((candidate) => candidate.name === name);
  if (command !== undefined) return [ROOT, command];
  throw new UsageError(
    `command "${name}"`,
    "headcni has no such command",
    nearest(name, commands.map((candidate) => candidate.name)),
  );
}

function reportError(
  error: unknown,
  parsed: Parsed,
  to: { stream: TerminalStream; paint: Paint },
): number {
  if (!(error instanceof HeadcniError)) return reportBug(error, to);
  const isUsage = error instanceof UsageError;
  const lines = [
    `${to.paint.error("headcni:")} ${describeError(error)}`,
    error.remedy,
    isUsage ? helpHint(parsed.path) : undefined,
  ];
  to.stream.write(lines.filter((line) => line !== undefined).join("\n") + "\n");
  return isUsage ? ExitCode.usage : ExitCode.failure;
}

/** What nobody expected: the stack is for us, the first and the last line for the reader. */
function reportBug(error: unknown, to: { stream: TerminalStream; paint: Paint }): number {
  const stack = error instanceof Error ? error.stack ?? error.message : String(error);
  to.stream.write(
    `${to.paint.error("headcni:")} This is a bug in headcni: ${describeError(error)}\n${stack}\n` +
      "Report it with the output of headcni version, please\n",
  );
  return ExitCode.failure;
}
