/** What the supervisor needs of the world, and how long it waits. */

import { type StartProcess, startProcess } from "../sys/background_process.ts";
import { type BootClock, kernelBootClock } from "../sys/boot_clock.ts";
import { type Clock, systemClock } from "../sys/clock.ts";
import { denoFiles, type Files } from "../sys/files.ts";
import { discardLog, type Log } from "../sys/log.ts";
import { type Run, run } from "../sys/process.ts";
import { type ProcessTable, procTable } from "../sys/process_table.ts";
import { cryptoRandomBelow, type RandomBelow } from "../sys/random.ts";
import { type RequestUnix, requestUnix } from "../sys/unix_http.ts";

/** Effects of the supervisor; tests pass some of their own. */
export interface SupervisorPorts {
  readonly start: StartProcess;
  readonly run: Run;
  readonly request: RequestUnix;
  readonly table: ProcessTable;
  readonly files: Files;
  readonly clock: Clock;
  readonly bootClock: BootClock;
  readonly random: RandomBelow;
  readonly log: Log;
}

/** The real ones; the log keeps nothing. */
export const REAL_PORTS: SupervisorPorts = {
  start: startProcess,
  run,
  request: requestUnix,
  table: procTable,
  files: denoFiles,
  clock: systemClock,
  bootClock: kernelBootClock,
  random: cryptoRandomBelow,
  log: discardLog,
};

/** Limits of time. */
export interface Timing {
  /** From its start to its first answer. */
  readonly readyMs: number;
  /** For an answer of one that already runs. */
  readonly adoptMs: number;
  /** From SIGTERM to SIGKILL. */
  readonly stopMs: number;
  /** Pause after the first end; doubles with each further one. */
  readonly baseMs: number;
  readonly capMs: number;
  /** Having run for this long, an end counts as the first again. */
  readonly stableMs: number;
}

/** Defaults: half a second at first, at most half a minute. */
export const TIMING: Timing = {
  readyMs: 30_000,
  adoptMs: 15_000,
  stopMs: 10_000,
  baseMs: 500,
  capMs: 30_000,
  stableMs: 60_000,
};
