/**
 * Keeps our own tailscaled running (daemon mode).
 *
 * A tailscaled that runs from before is taken over, so that an update of this program costs
 * no packet. One that ends is started again, after a pause that grows while it keeps ending.
 * It is never restarted for another reason: that is `restart()`, for whoever knows whether
 * the control server is there.
 */

import { backoffMs } from "../sys/backoff.ts";
import { DeadlineError } from "../sys/clock.ts";
import { describeError } from "../sys/errors.ts";
import { type HeldLock, lockFile } from "../sys/file_lock.ts";
import { FileFollower } from "../sys/follow_file.ts";
import { ensurePrivateDirectory } from "../sys/private_path.ts";
import type { Secret } from "../sys/secret.ts";
import { TailscaledError } from "./errors.ts";
import { type LaunchedTailscaled, TailscaledLauncher } from "./launcher.ts";
import { LocalApi } from "./local_api.ts";
import { LogRelay } from "./log_relay.ts";
import { REAL_PORTS, type SupervisorPorts, TIMING, type Timing } from "./supervisor_ports.ts";
import {
  type CompleteSettings,
  completeSettings,
  type TailscaledFiles,
  tailscaledFiles,
  type TailscaledSettings,
} from "./tailscaled_settings.ts";

/** What becomes of tailscaled, as far as its process goes. */
export type SupervisorState =
  | { readonly phase: "idle" | "starting" }
  | {
    readonly phase: "running";
    readonly pid: number;
    readonly version: string;
    /** Taken over from an earlier run of this program. */
    readonly adopted: boolean;
    /** In what it differs from the settings; a `restart()` would change that. */
    readonly outdated: readonly string[];
  }
  | {
    readonly phase: "waiting";
    /** Why it does not run. */
    readonly problem: string;
    readonly retryInMs: number;
    /** Ends and failed starts in a row. */
    readonly failures: number;
  };

/** Options for {@linkcode TailscaledSupervisor}. */
export interface SupervisorOptions extends Partial<SupervisorPorts> {
  readonly settings?: TailscaledSettings;
  /** The value of `PATH`, to find tailscaled. */
  readonly searchPath?: string;
  readonly timing?: Partial<Timing>;
  /** Told of every change of state. */
  readonly onChange?: (state: SupervisorState) => void;
}

/** An old daemon that is being replaced lets go within this time. */
const LOCK_TIMEOUT_MS = 5000;

/** See the top of this file. Call `start`, later `stop` or `release`. */
export class TailscaledSupervisor {
  /** To the supervised tailscaled. */
  readonly api: LocalApi;
  readonly files: TailscaledFiles;
  readonly #settings: CompleteSettings;
  readonly #ports: SupervisorPorts;
  readonly #timing: Timing;
  readonly #onChange: (state: SupervisorState) => void;
  readonly #relay: LogRelay;
  readonly #follower: FileFollower;
  readonly #launcher: TailscaledLauncher;
  #state: SupervisorState = { phase: "idle" };
  #lock: HeldLock | undefined;
  #running: LaunchedTailscaled | undefined;
  #quit = new AbortController();
  #loops: Promise<unknown> = Promise.resolve();
  #turn: Promise<void> = Promise.resolve();

  constructor(options: SupervisorOptions = {}) {
    const ports = { ...REAL_PORTS, ...options };
    const { clock, log, request } = ports;
    this.#ports = ports;
    this.#timing = { ...TIMING, ...options.timing };
    this.#settings = completeSettings(options.settings ?? {});
    this.#onChange = options.onChange ?? (() => {});
    this.files = tailscaledFiles(this.#settings);
    this.api = new LocalApi({ socketPath: this.files.socket, clock, request });
    this.#relay = new LogRelay({ log: log.with({ from: "tailscaled" }), clock });
    this.#follower = new FileFollower(this.files.log, { onLine: this.#relay.line });
    this.#launcher = new TailscaledLauncher({
      settings: this.#settings,
      ports,
      timing: this.#timing,
      api: this.api,
      searchPath: options.searchPath,
      lastLines: () => this.#lastLines(),
    });
  }

  /** What is known now. */
  get state(): SupervisorState {
    return this.#state;
  }

  /** Keeps `secret` out of what is passed on of tailscaled's log. */
  conceal(secret: Secret): void {
    this.#relay.conceal(secret);
  }

  /**
   * Takes over or starts tailscaled, waits until it answers, and looks after it from then
   * on. After a failure nothing is left running, and it may be called again.
   *
   * @throws {TailscaledError} no program, another tailscaled, another supervisor, no answer.
   * @throws {DOMException} `AbortError` if `stop` or `release` is called meanwhile.
   */
  async start(): Promise<void> {
    await this.#inTurn(() => this.#start());
  }

  /** Ends tailscaled and starts it anew with the settings; connections break for a moment. */
  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** Ends tailscaled: the tunnel and its routes are gone. Keys and name of the node stay. */
  async stop(): Promise<void> {
    this.#quit.abort();
    await this.#inTurn(async () => {
      const running = await this.#letGo();
      try {
        if (running !== undefined) await this.#launcher.end(running);
      } finally {
        this.#unlock();
      }
    });
  }

  /** Stops looking after tailscaled, which runs on; the next start takes it over. */
  async release(): Promise<void> {
    this.#quit.abort();
    await this.#inTurn(async () => {
      (await this.#letGo())?.leave();
      this.#unlock();
    });
  }

  /** One at a time, in the order of the calls. */
  async #inTurn(work: () => Promise<void>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const before = this.#turn;
    this.#turn = promise;
    await before;
    try {
      await work();
    } finally {
      resolve();
    }
  }

  async #start(): Promise<void> {
    if (this.#lock !== undefined) return;
    const { runtimeDirectory, stateDirectory } = this.#settings;
    ensurePrivateDirectory(runtimeDirectory);
    ensurePrivateDirectory(stateDirectory);
    this.#quit = new AbortController();
    this.#lock = await lockAlone(this.files.lock);
    try {
      await this.#launch();
    } catch (error) {
      this.#set({ phase: "idle" });
      this.#unlock();
      throw error;
    }
    const { clock } = this.#ports;
    this.#loops = Promise.all([
      this.#follower.follow({ signal: this.#quit.signal, clock }),
      this.#lookAfter(),
    ]);
  }

  async #letGo(): Promise<LaunchedTailscaled | undefined> {
    await this.#loops;
    const running = this.#running;
    this.#running = undefined;
    this.#set({ phase: "idle" });
    return running;
  }

  async #launch(): Promise<void> {
    this.#set({ phase: "starting" });
    const running = await this.#launcher.launch(this.#quit.signal);
    this.#running = running;
    const { facts: { pid }, version, adopted, outdated } = running;
    this.#set({ phase: "running", pid, version, adopted, outdated });
  }

  /** Starts it again whenever it ends. */
  async #lookAfter(): Promise<void> {
    const { clock } = this.#ports;
    const { signal } = this.#quit;
    let failures = 0;
    while (!signal.aborted && this.#running !== undefined) {
      const since = clock.monotonicMs();
      const how = await untilAborted(this.#running.ended, signal);
      if (how === undefined) return;
      if (clock.monotonicMs() - since >= this.#timing.stableMs) failures = 0;
      this.#running = undefined;
      let problem = `it ended (${how})`;
      while (!signal.aborted && this.#running === undefined) {
        failures += 1;
        await this.#pause(problem, failures);
        if (signal.aborted) return;
        // Not thrown on: what does not work now may in a minute.
        await this.#launch().catch((error) => problem = describeError(error));
      }
    }
  }

  async #pause(problem: string, failures: number): Promise<void> {
    const { clock, log, random } = this.#ports;
    const { baseMs, capMs } = this.#timing;
    const retryInMs = backoffMs(failures, { baseMs, capMs, random });
    this.#set({ phase: "waiting", problem, retryInMs, failures });
    log.warn("tailscaled does not run", { problem, retryInMs, failures, said: this.#lastLines() });
    await clock.sleep(retryInMs, { signal: this.#quit.signal }).catch(() => {});
  }

  #lastLines(): readonly string[] {
    this.#follower.look();
    return this.#relay.lastLines();
  }

  #set(state: SupervisorState): void {
    this.#state = state;
    this.#onChange(state);
  }

  #unlock(): void {
    this.#lock?.[Symbol.dispose]();
    this.#lock = undefined;
  }
}

/** Two supervisors of one tailscaled would each start what the other stops. */
async function lockAlone(path: string): Promise<HeldLock> {
  try {
    return await lockFile(path, { mode: "exclusive", timeoutMs: LOCK_TIMEOUT_MS });
  } catch (cause) {
    if (!(cause instanceof DeadlineError)) throw cause;
    throw new TailscaledError({
      kind: "Supervised",
      operation: "look after tailscaled",
      reason: `another headcni daemon does: it holds ${path}`,
      remedy: `Find and end it: fuser -v ${path}`,
      cause,
    });
  }
}

/** What `promise` resolves to, or `undefined` when the signal comes first. */
async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  const { promise: aborted, resolve } = Promise.withResolvers<undefined>();
  const onAbort = () => resolve(undefined);
  if (signal.aborted) return undefined;
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
