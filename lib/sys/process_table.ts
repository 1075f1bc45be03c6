/**
 * Other processes of this machine, as /proc shows them (proc(5)).
 *
 * A number alone does not name a process: numbers are used again. Number and start time
 * together do, for as long as the machine runs. Processes end while one looks at them, so
 * whatever cannot be read counts as gone.
 */

import { ProcessError } from "./process_error.ts";

/** A process at the moment it was looked at. */
export interface ProcessFacts {
  readonly pid: number;
  /** The process that started it, or that took over from that one. */
  readonly parent: number;
  /** The process that leads its session. */
  readonly session: number;
  /** Clock ticks from boot to its start. */
  readonly startTicks: string;
  /** First 15 characters of the program's file name. */
  readonly name: string;
  /** The program's file; ends in ` (deleted)` when it was replaced; `undefined` if hidden. */
  readonly executable: string | undefined;
  /** Its command line, the program's name first. */
  readonly args: readonly string[];
  /** Real user. */
  readonly uid: number;
  /** Device and inode of its network namespace; `undefined` if hidden from this user. */
  readonly netnsId: string | undefined;
}

/** Looks at processes and signals them. Tests pass a stand-in. */
export interface ProcessTable {
  /** The process `pid`; `undefined` if there is none, or only its remains (a zombie). */
  find(pid: number): ProcessFacts | undefined;
  /** All processes this user can see. */
  list(): ProcessFacts[];
  /**
   * Sends `signal` to a process, with `group` to its whole process group.
   *
   * @returns whether it was there.
   */
  signal(pid: number, signal: "SIGTERM" | "SIGKILL", options?: { group?: boolean }): boolean;
  /** User of this program. */
  ownUid(): number;
}

/** The real one. */
export const procTable: ProcessTable = {
  find: readProcess,
  list: () =>
    [...Deno.readDirSync("/proc")]
      .filter(({ name }) => /^\d+$/.test(name))
      .flatMap(({ name }) => readProcess(Number(name)) ?? []),
  signal: (pid, signal, { group = false } = {}) => sendSignal(group ? -pid : pid, signal),
  ownUid: () => Deno.uid() ?? 0,
};

function readProcess(pid: number): ProcessFacts | undefined {
  const directory = `/proc/${pid}`;
  const stat = attempt(() => Deno.readTextFileSync(`${directory}/stat`));
  const commandLine = attempt(() => Deno.readTextFileSync(`${directory}/cmdline`));
  const uid = attempt(() => Deno.statSync(directory).uid);
  // The name stands in parentheses and may itself hold any character.
  const [, name, state, rest = ""] = /^\d+ \((.*)\) (\S) (.*)$/s.exec(stat ?? "") ?? [];
  // Fields 4, 6 and 22.
  const fields = rest.split(" ");
  const [parent, , session] = fields;
  const startTicks = fields[18];
  if (name === undefined || startTicks === undefined || state === "Z" || state === "X") {
    return undefined;
  }
  return {
    pid,
    parent: Number(parent),
    session: Number(session),
    startTicks,
    name,
    executable: attempt(() => Deno.readLinkSync(`${directory}/exe`)),
    args: (commandLine ?? "").split("\0").slice(0, -1),
    uid: uid ?? -1,
    netnsId: attempt(() => {
      const { dev, ino } = Deno.statSync(`${directory}/ns/net`);
      return `${dev}:${ino}`;
    }),
  };
}

function sendSignal(pid: number, signal: "SIGTERM" | "SIGKILL"): boolean {
  try {
    Deno.kill(pid, signal);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    if (!(error instanceof Deno.errors.PermissionDenied)) throw error;
    throw new ProcessError({
      kind: "Failed",
      command: "kill",
      args: [`-${signal}`, `${pid}`],
      reason: "it belongs to another user",
      cause: error,
    });
  }
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
