/**
 * Which process is our tailscaled, written down for our next start.
 *
 * A pid file alone would adopt whatever has the number by then. Boot, start time and user
 * make it unambiguous; flags and environment tell whether it still runs as wanted.
 */

import { type Files, readTextIfPresent } from "../sys/files.ts";
import { JsonShapeError, parseJsonView } from "../sys/json_view.ts";
import type { ProcessFacts, ProcessTable } from "../sys/process_table.ts";

/** What is written down. */
export interface ProcessRecord {
  readonly pid: number;
  readonly startTicks: string;
  readonly bootId: string;
  readonly version: string;
  /** Flags it was started with. */
  readonly args: readonly string[];
  /** Environment it was started with, as `NAME=value`. */
  readonly environment: readonly string[];
}

/** Writes the record, mode 0600. @throws {FileError} */
export function writeRecord(files: Files, path: string, record: ProcessRecord): void {
  files.writeAtomic(path, JSON.stringify(record) + "\n", { mode: 0o600 });
}

/** The record, if there is a readable one: without it the process is searched for. */
export function readRecord(files: Files, path: string): ProcessRecord | undefined {
  const text = readTextIfPresent(files, path);
  if (text === undefined) return undefined;
  try {
    const view = parseJsonView(text, path);
    return {
      pid: view.number("pid"),
      startTicks: view.text("startTicks"),
      bootId: view.text("bootId"),
      version: view.text("version"),
      args: view.texts("args"),
      environment: view.texts("environment"),
    };
  } catch (error) {
    if (error instanceof JsonShapeError) return undefined;
    throw error;
  }
}

/** What our tailscaled is recognised by. */
export interface Identity {
  readonly record: ProcessRecord | undefined;
  readonly bootId: string;
  /** Its socket and state directory are nobody else's. */
  readonly socket: string;
  readonly stateDirectory: string;
}

/** Our tailscaled, if it runs: by the record, else by the flags that name our files. */
export function findOwn(table: ProcessTable, identity: Identity): ProcessFacts | undefined {
  const { record, bootId } = identity;
  const isOurs = (facts: ProcessFacts) => {
    // Anybody can put our flags on a command line; only our user's processes count.
    return facts.uid === table.ownUid() && namesOurFiles(facts, identity);
  };
  if (record !== undefined && record.bootId === bootId) {
    const facts = table.find(record.pid);
    if (facts?.startTicks === record.startTicks && isOurs(facts)) return facts;
  }
  return table.list().find((facts) => isTailscaled(facts) && isOurs(facts));
}

/** Whether the process is a tailscaled, ours or another. */
export function isTailscaled(facts: ProcessFacts): boolean {
  // The kernel adds " (deleted)" to a file that was replaced; some put the version behind it.
  return facts.name.startsWith("tailscaled") ||
    /\/tailscaled[^/]*$/.test(facts.executable ?? "");
}

function namesOurFiles({ args }: ProcessFacts, { socket, stateDirectory }: Identity): boolean {
  return args.includes(`--socket=${socket}`) && args.includes(`--statedir=${stateDirectory}`);
}

/** How a running tailscaled is wanted. */
export interface Wanted {
  readonly args: readonly string[];
  readonly environment: readonly string[];
  readonly version: string;
  readonly netnsId: string;
}

/**
 * In what a running tailscaled differs from what is wanted, as text for people; empty if in
 * nothing. It is for others to decide when a restart is worth its gap.
 */
export function differences(
  facts: ProcessFacts,
  record: ProcessRecord | undefined,
  wanted: Wanted,
): readonly string[] {
  const found: string[] = [];
  const [, ...args] = facts.args;
  const changed = wanted.args.filter((flag) => !args.includes(flag));
  const dropped = args.filter((flag) => !wanted.args.includes(flag));
  if (changed.length + dropped.length > 0) {
    found.push(
      `flags: it has ${dropped.join(" ") || "none"}, wanted ${changed.join(" ") || "none"}`,
    );
  }
  if (facts.netnsId !== undefined && facts.netnsId !== wanted.netnsId) {
    found.push("network namespace: it runs in another one");
  }
  if (facts.executable?.endsWith(" (deleted)") === true) {
    found.push("program: the file it runs was replaced");
  }
  if (record?.pid !== facts.pid) return found;
  if (record.version !== wanted.version) {
    found.push(`version: it is ${record.version}, installed is ${wanted.version}`);
  }
  if (record.environment.join("\n") !== wanted.environment.join("\n")) {
    found.push("environment: other variables are set");
  }
  return found;
}
