/** One tailscaled process: started or taken over, waited for, stopped. */

import { inNetns, openNetns, openOwnNetns } from "../netlink/mod.ts";
import { netnsPath } from "../netlink/named_netns.ts";
import type { BackgroundProcess, ProcessEnd, StartProcess } from "../sys/background_process.ts";
import { type Clock, DeadlineError, withDeadline } from "../sys/clock.ts";
import { describeError, HeadcniError } from "../sys/errors.ts";
import { type Files } from "../sys/files.ts";
import type { Run } from "../sys/process.ts";
import type { ProcessFacts, ProcessTable } from "../sys/process_table.ts";
import { TailscaledError } from "./errors.ts";
import type { LocalApi } from "./local_api.ts";
import type { TailscaledBinary } from "./tailscaled_binary.ts";
import {
  type CompleteSettings,
  tailscaledArgs,
  tailscaledEnvironment,
  tailscaledFiles,
} from "./tailscaled_settings.ts";

/** A tailscaled process of ours. */
export interface RunningTailscaled {
  readonly facts: ProcessFacts;
  /** Taken over from an earlier run of this program. */
  readonly adopted: boolean;
  /** Resolves when it has ended, with how: `status 1`, `SIGKILL`, or `unknown` if adopted. */
  readonly ended: Promise<string>;
  /** Lets this program end while tailscaled runs on. */
  readonly leave: () => void;
}

/** How often an adopted process is looked for: it is not our child, so nobody tells us. */
const LOOK_INTERVAL_MS = 500;

/** `setpriv` of util-linux 2.33 and later; the search path is ours, not the environment's. */
const SETPRIV = ["/usr/bin/setpriv", "/bin/setpriv", "/usr/local/bin/setpriv"];

/** What {@linkcode spawnTailscaled} needs. */
export interface SpawnPorts {
  readonly start: StartProcess;
  readonly table: ProcessTable;
  readonly files: Pick<Files, "stat">;
}

/**
 * Starts tailscaled as `settings` say, in their network namespace.
 *
 * @throws {ProcessError} {@linkcode NetnsError}, or {@linkcode TailscaledError} if it ended at
 *   once.
 */
export async function spawnTailscaled(
  settings: CompleteSettings,
  binary: TailscaledBinary,
  ports: SpawnPorts,
): Promise<RunningTailscaled> {
  const { log } = tailscaledFiles(settings);
  const command = [
    ...boundToUs(settings, ports.files),
    binary.path,
    ...tailscaledArgs(settings, binary),
  ];
  const [program = "", ...args] = command;
  const options = { env: tailscaledEnvironment(settings), outputPath: log };
  using netns = openTarget(settings);
  const child = inNetns<BackgroundProcess>(netns, () => ports.start(program, args, options));
  const facts = ports.table.find(child.pid);
  const ended = child.ended.then(describeEnd, describeError);
  if (facts !== undefined) return { facts, adopted: false, ended, leave: child.unref };
  throw notReady(`it ended (${await ended})`);
}

/** The namespace tailscaled is to run in; the caller closes it. @throws {NetnsError} */
export function openTarget(
  { netns }: Pick<CompleteSettings, "netns">,
): ReturnType<typeof openNetns> {
  return netns === undefined ? openOwnNetns() : openNetns(netnsPath(netns));
}

/**
 * PR_SET_PDEATHSIG has to be set between fork and exec, where Deno runs no code of ours:
 * setpriv sets it and becomes tailscaled. The kernel sends the signal when the thread that
 * started it ends, which for the daemon is the main thread.
 */
function boundToUs(
  { whenOrphaned }: Pick<CompleteSettings, "whenOrphaned">,
  files: Pick<Files, "stat">,
): readonly string[] {
  if (whenOrphaned !== "end") return [];
  const setpriv = SETPRIV.find((path) => files.stat(path)?.kind === "file");
  if (setpriv !== undefined) return [setpriv, "--pdeathsig", "TERM", "--"];
  throw new TailscaledError({
    kind: "Unusable",
    operation: "bind tailscaled to this program's life",
    reason: "setpriv is not installed",
    remedy: "Install util-linux 2.33 or newer, or leave tailscaled running: whenOrphaned: runOn",
  });
}

function describeEnd({ code, signal }: ProcessEnd): string {
  return signal ?? `status ${code}`;
}

/** Takes over the running process `facts`; `signal` ends the looking, not the process. */
export function adoptTailscaled(
  facts: ProcessFacts,
  options: { readonly table: ProcessTable; readonly clock: Clock; readonly signal: AbortSignal },
): RunningTailscaled {
  const { table, clock, signal } = options;
  const untilGone = async () => {
    while (isAlive(table, facts)) await clock.sleep(LOOK_INTERVAL_MS, { signal });
    return "unknown";
  };
  // Aborted: nobody waits for the end any more.
  const ended = untilGone().catch((error) => {
    if (signal.aborted) return new Promise<never>(() => {});
    throw error;
  });
  return { facts, adopted: true, ended, leave: () => {} };
}

/** Whether this very process still runs, and not another with its number. */
export function isAlive(table: ProcessTable, { pid, startTicks }: ProcessFacts): boolean {
  return table.find(pid)?.startTicks === startTicks;
}

/** Options for {@linkcode waitUntilReady}. */
export interface ReadyOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Waits until tailscaled answers.
 *
 * @throws {TailscaledError} `NotReady` if it ends or the time is up.
 */
export async function waitUntilReady(
  running: RunningTailscaled,
  api: Pick<LocalApi, "status">,
  options: ReadyOptions,
): Promise<void> {
  const { clock, timeoutMs, signal } = options;
  let problem = "it does not answer";
  const ask = async (stop: AbortSignal) => {
    for (;;) {
      try {
        await api.status({ peers: false, signal: stop, timeoutMs: 5000 });
        return;
      } catch (error) {
        stop.throwIfAborted();
        if (!(error instanceof HeadcniError)) throw error;
        problem = error.reason;
      }
      await clock.sleep(100, { signal: stop });
    }
  };
  const ended = running.ended.then((how) => {
    throw notReady(`it ended (${how})`);
  });
  try {
    await withDeadline(timeoutMs, (stop) => Promise.race([ask(stop), ended]), {
      operation: "wait for tailscaled",
      clock,
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (!(error instanceof DeadlineError)) throw error;
    throw notReady(`not within ${timeoutMs} ms: ${problem}`, error);
  } finally {
    ended.catch(() => {});
  }
}

function notReady(reason: string, cause?: unknown): TailscaledError {
  return new TailscaledError({
    kind: "NotReady",
    operation: "get an answer from tailscaled",
    reason,
    ...(cause === undefined ? {} : { cause }),
  });
}

/** Options for {@linkcode stopProcess}. */
export interface StopOptions {
  readonly table: ProcessTable;
  readonly clock: Clock;
  /** From SIGTERM to SIGKILL: it takes down routes and rules meanwhile. */
  readonly graceMs: number;
}

const POLL_MS = 50;
/** The kernel ends a killed process soon, unless it hangs in a system call. */
const KILL_WAIT_MS = 5000;

/**
 * Ends a tailscaled: SIGTERM, and SIGKILL to its whole session when that takes too long.
 *
 * @returns `false` if it had to be killed: its routes and rules are left then.
 * @throws {TailscaledError} if it is there even after that.
 */
export async function stopProcess(facts: ProcessFacts, options: StopOptions): Promise<boolean> {
  const { table, clock, graceMs } = options;
  // The last moment to notice that the number is somebody else's by now.
  if (!isAlive(table, facts)) return true;
  table.signal(facts.pid, "SIGTERM");
  if (await isGoneWithin(facts, graceMs, { table, clock })) return true;
  table.signal(facts.pid, "SIGKILL", { group: true });
  if (await isGoneWithin(facts, KILL_WAIT_MS, { table, clock })) return false;
  throw new TailscaledError({
    kind: "Unusable",
    operation: "stop tailscaled",
    subject: `process ${facts.pid}`,
    reason: "it is there even after SIGKILL",
    remedy: `Look at what it waits for: cat /proc/${facts.pid}/stack`,
  });
}

async function isGoneWithin(
  facts: ProcessFacts,
  limitMs: number,
  { table, clock }: Pick<StopOptions, "table" | "clock">,
): Promise<boolean> {
  const end = clock.monotonicMs() + limitMs;
  while (isAlive(table, facts)) {
    if (clock.monotonicMs() >= end) return false;
    await clock.sleep(POLL_MS);
  }
  return true;
}

/**
 * Takes away what a killed tailscaled left in the packet filter. ≈ `tailscaled --cleanup`
 *
 * Only with no tailscaled in the namespace: it would lose its own.
 *
 * @throws {ProcessError}
 */
export async function cleanUp(
  settings: CompleteSettings,
  binary: Pick<TailscaledBinary, "path">,
  run: Run,
): Promise<void> {
  const { netns, tun, stateDirectory } = settings;
  const command = [binary.path, "--cleanup", `--tun=${tun}`, `--statedir=${stateDirectory}`];
  const enter = netns === undefined ? [] : ["nsenter", `--net=${netnsPath(netns)}`];
  const [program = "", ...args] = [...enter, ...command];
  const env = tailscaledEnvironment(settings);
  await run(program, args, { env, clearEnv: true, check: true });
}
