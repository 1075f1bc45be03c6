/**
 * A program that runs on while this one does other things, and may outlive it.
 *
 * Its output goes to a file, never to a pipe of ours: a pipe ends with this process, and a
 * program that is to live through our restart must be able to write on. `Deno.Command` knows
 * no files, so this is the one place that uses `node:child_process`.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { fileError } from "./file_error.ts";
import { ProcessError, spawnError } from "./process_error.ts";

/** Options for {@linkcode startProcess}. */
export interface StartOptions {
  /** The whole environment: nothing of ours is inherited, so that no secret is. */
  readonly env: Readonly<Record<string, string>>;
  /** Gets standard output and error, appended; made with mode 0600. */
  readonly outputPath: string;
}

/** How a program ended. */
export interface ProcessEnd {
  /** Exit status, unless a signal ended it. */
  readonly code: number | undefined;
  readonly signal: string | undefined;
}

/** A running program of ours. */
export interface BackgroundProcess {
  readonly pid: number;
  /** Resolves when it has ended. */
  readonly ended: Promise<ProcessEnd>;
  /** Lets this program end while that one runs on. */
  unref(): void;
}

/** Starts a program; {@linkcode startProcess}, or what a test puts in its place. */
export type StartProcess = typeof startProcess;

/**
 * Starts `command` in a session of its own, with an empty standard input.
 *
 * It starts before this returns, in the network namespace of the calling thread: call it
 * inside `inNetns` to start it elsewhere.
 *
 * @throws {ProcessError} if it cannot be started.
 * @throws {FileError} if the output file cannot be opened.
 */
export function startProcess(
  command: string,
  args: readonly string[],
  options: StartOptions,
): BackgroundProcess {
  const { env, outputPath } = options;
  checkExecutable(command, args);
  using output = openOutput(outputPath);
  const child = spawn(command, [...args], {
    env: { ...env },
    stdio: ["ignore", output.fd, output.fd],
    // setsid(2): a Ctrl-C at our terminal is not meant for it.
    detached: true,
  });
  const ended = endOf(child);
  const { pid } = child;
  if (pid === undefined) {
    // The reason comes as an event, after this function has returned.
    ended.catch(() => {});
    const reason = "the system did not start it";
    throw new ProcessError({ kind: "NotStarted", command, args, reason });
  }
  return { pid, ended, unref: () => child.unref() };
}

/** Node reports these as events; here they are thrown. */
function checkExecutable(command: string, args: readonly string[]): void {
  try {
    const { isFile, mode } = Deno.statSync(command);
    if (!isFile || ((mode ?? 0) & 0o111) === 0) {
      throw new Deno.errors.PermissionDenied("not an executable file");
    }
  } catch (error) {
    throw spawnError({ command, args, cwd: undefined }, error);
  }
}

/** The file behind a descriptor that `node:child_process` can take. */
function openOutput(path: string): Disposable & { readonly fd: number } {
  try {
    const fd = openSync(path, "a", 0o600);
    return { fd, [Symbol.dispose]: () => closeSync(fd) };
  } catch (error) {
    throw fileError("open log file", path, error);
  }
}

function endOf(child: ChildProcess): Promise<ProcessEnd> {
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code, signal) => {
      resolve(readEnd(code ?? 0, signal ?? undefined));
    });
  });
}

/** Deno reports a signal as a shell does, as 128 and its number. */
function readEnd(code: number, signal: string | undefined): ProcessEnd {
  if (signal === undefined && code > 128 && code <= 128 + 64) {
    signal = SIGNALS[code - 128] ?? `signal ${code - 128}`;
  }
  return signal === undefined ? { code, signal } : { code: undefined, signal };
}

/** Those that end programs; signal(7). */
const SIGNALS: Readonly<Record<number, string>> = {
  1: "SIGHUP",
  2: "SIGINT",
  3: "SIGQUIT",
  6: "SIGABRT",
  7: "SIGBUS",
  9: "SIGKILL",
  11: "SIGSEGV",
  15: "SIGTERM",
};
