/**
 * Running another program to its end, within a limit of time and output.
 *
 * Never through a shell: arguments reach the program as they are. They are also visible to
 * every local user in /proc and are quoted in errors, so a secret goes by stdin, by
 * environment or in a file.
 */

import { ProcessError, spawnError } from "./process_error.ts";
import { type CollectedOutput, collectOutput } from "./process_output.ts";

/** Options for {@linkcode run}. */
export interface RunOptions {
  /** Given to the program on its standard input, which is otherwise empty. */
  readonly stdin?: string | Uint8Array;
  /** Environment variables, on top of this program's own. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Leave out this program's own environment.
   *
   * @default {false}
   */
  readonly clearEnv?: boolean;
  /** Which of this program's own variables go on; by default all. */
  readonly passEnv?: (name: string) => boolean;
  /** Where to run; by default where this program runs. */
  readonly cwd?: string;
  /** @default {30_000} */
  readonly timeoutMs?: number;
  /**
   * How long the program may take to stop when told to, before it is killed.
   *
   * @default {2000}
   */
  readonly stopGraceMs?: number;
  /** Stops the program; the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /**
   * Most bytes to accept on stdout, and again on stderr.
   *
   * @default {1_048_576}
   */
  readonly maxOutputBytes?: number;
  /**
   * Throw unless the program ends with status 0.
   *
   * @default {false}
   */
  readonly check?: boolean;
}

/** How a program ended and what it said. */
export interface RunResult {
  /** Exit status; 128 + its number if a signal ended the program. */
  readonly code: number;
  readonly signal: string | undefined;
  readonly stdout: string;
  readonly stderr: string;
  readonly durationMs: number;
}

/** Runs a program; {@linkcode run}, or what a test puts in its place. */
export type Run = typeof run;

/** A killed process ends at once, unless the kernel holds it. */
const KILL_WAIT_MS = 2000;

/** How long output may pause, once the program has ended, before it counts as complete. */
const DRAIN_PAUSE_MS = 250;

/**
 * Runs `command` with `args` and waits for its end.
 *
 * The program gets a session, and so a process group, of its own. To stop it, the whole
 * group is asked with SIGTERM, then killed. A program that ends but leaves behind a child
 * which holds its output open does not hold up the result: what was written by then is all.
 *
 * @throws {ProcessError} not started, deadline passed, too much output; with `check`, failed.
 *
 * @example
 * ```ts
 * import { run } from "./process.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const { code, stdout } = await run("cat", ["-n"], { stdin: "one\n" });
 * assertEquals([code, stdout.trim()], [0, "1\tone"]);
 * ```
 */
export async function run(
  command: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<RunResult> {
  const { timeoutMs = 30_000, maxOutputBytes = 1_048_576, check = false, signal } = options;
  const { stopGraceMs = 2000 } = options;
  signal?.throwIfAborted();
  const start = performance.now();
  const child = spawn(command, args, options);
  const stop = Promise.withResolvers<never>();
  const onOverflow = () => {
    const reason = `its output is larger than ${maxOutputBytes} bytes`;
    stop.reject(new ProcessError({ kind: "OutputTooLarge", command, args, reason }));
  };
  const onDeadline = () => {
    const reason = `it did not end within ${timeoutMs} ms`;
    const output = stderr.text();
    stop.reject(new ProcessError({ kind: "Deadline", command, args, reason, output }));
  };
  if (options.stdin !== undefined) feed(child, options.stdin);
  using stdout = collectOutput(child.stdout, { maxBytes: maxOutputBytes, onOverflow });
  using stderr = collectOutput(child.stderr, { maxBytes: maxOutputBytes, onOverflow });
  using _timer = startTimer(onDeadline, timeoutMs);
  using _abort = onceAborted(signal, stop.reject);

  const status = await endOf(child, [stdout, stderr], stop.promise).catch(async (error) => {
    await stopGroup(child, stopGraceMs);
    throw error;
  });
  const result = {
    code: status.code,
    signal: status.signal ?? undefined,
    stdout: stdout.text(),
    stderr: stderr.text(),
    durationMs: performance.now() - start,
  };
  if (check && result.code !== 0) throw failed(command, args, result);
  return result;
}

function spawn(command: string, args: readonly string[], options: RunOptions): Deno.ChildProcess {
  const { stdin, env, clearEnv = false, passEnv, cwd } = options;
  try {
    return new Deno.Command(command, {
      args: [...args],
      ...(passEnv === undefined ? { env: env ?? {} } : { env: { ...passed(passEnv), ...env } }),
      ...(cwd === undefined ? {} : { cwd }),
      clearEnv: clearEnv || passEnv !== undefined,
      stdin: stdin === undefined ? "null" : "piped",
      stdout: "piped",
      stderr: "piped",
      // setsid(2), so that one kill reaches the program's descendants.
      detached: true,
    }).spawn();
  } catch (error) {
    throw spawnError({ command, args, cwd }, error);
  }
}

function passed(passEnv: (name: string) => boolean): Record<string, string> {
  return Object.fromEntries(Object.entries(Deno.env.toObject()).filter(([name]) => passEnv(name)));
}

/** Writes `input` while the output is being read: either side may fill its pipe first. */
async function feed(child: Deno.ChildProcess, input: string | Uint8Array): Promise<void> {
  const writer = child.stdin.getWriter();
  try {
    await writer.write(typeof input === "string" ? new TextEncoder().encode(input) : input);
    await writer.close();
  } catch {
    // EPIPE: the program ended without reading it all. Its status says whether that is bad.
  }
}

/** The child's status once its output is complete. */
async function endOf(
  child: Deno.ChildProcess,
  outputs: readonly CollectedOutput[],
  stopped: Promise<never>,
): Promise<Deno.CommandStatus> {
  const status = await Promise.race([stopped, child.status]);
  await Promise.race([stopped, drain(outputs)]);
  return status;
}

/** Waits for the end of all output, or for a pause in it: see {@linkcode run}. */
async function drain(outputs: readonly CollectedOutput[]): Promise<void> {
  const closed = Promise.all(outputs.map((output) => output.closed));
  const size = () => outputs.reduce((sum, output) => sum + output.size(), 0);
  let before: number;
  do before = size(); while (!await settlesWithin(closed, DRAIN_PAUSE_MS) && size() !== before);
}

async function stopGroup(child: Deno.ChildProcess, graceMs: number): Promise<void> {
  signalGroup(child.pid, "SIGTERM");
  await settlesWithin(child.status, graceMs);
  // Also when the program itself has ended: a child of it may have ignored SIGTERM.
  signalGroup(child.pid, "SIGKILL");
  // Not for ever: a process in an uninterruptible wait, on a dead NFS server say, stays.
  if (!await settlesWithin(child.status, KILL_WAIT_MS)) child.unref();
}

function signalGroup(pid: number, signal: Deno.Signal): void {
  try {
    Deno.kill(-pid, signal);
  } catch (error) {
    // ESRCH: nobody is left. EPERM: it changed its user, and we are not root.
    if (error instanceof Deno.errors.NotFound) return;
    if (error instanceof Deno.errors.PermissionDenied) return;
    throw error;
  }
}

function failed(command: string, args: readonly string[], result: RunResult): ProcessError {
  const { code, signal, stdout, stderr } = result;
  const reason = signal === undefined ? `it ended with status ${code}` : `${signal} ended it`;
  const output = stderr.trim() === "" ? stdout : stderr;
  return new ProcessError({ kind: "Failed", command, args, reason, code, output });
}

async function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  using _timer = startTimer(() => resolve(false), ms);
  return await Promise.race([promise.then(() => true), late]);
}

function startTimer(action: () => void, ms: number): Disposable {
  const timer = setTimeout(action, ms);
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}

function onceAborted(
  signal: AbortSignal | undefined,
  action: (reason: unknown) => void,
): Disposable {
  const listener = () => action(signal?.reason);
  signal?.addEventListener("abort", listener, { once: true });
  return { [Symbol.dispose]: () => signal?.removeEventListener("abort", listener) };
}
