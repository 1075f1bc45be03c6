/**
 * What happens after a call has been answered: the daemon is told, and the log.
 *
 * The answer is on standard output by then and nothing here can change it. Whatever goes wrong is
 * nobody's problem: the daemon reads the store anyway, and a hint only makes it look earlier.
 */

import { pathExists } from "../sys/libc.ts";
import { logCall } from "./call_log.ts";
import { type CallEnd } from "./call_notes.ts";
import { type PluginIo } from "./dispatch.ts";
import { sendHint } from "./hint.ts";

/** Where the daemon listens when nobody says otherwise. */
export const DEFAULT_DAEMON_SOCKET = "/run/headcni/headcni.sock";

/** The environment variable that moves it. */
export const DAEMON_SOCKET_VARIABLE = "HEADCNI_DAEMON_SOCKET";

/** The verbs that change what the daemon should know. */
const TOLD: readonly string[] = ["ADD", "DEL"];

type Ends = Pick<PluginIo, "env" | "stderr">;

/** Tells others how a call ended. Never throws, never waits. */
export function tellOthers(
  end: CallEnd,
  io: Ends,
  exists: (path: string) => boolean = pathExists,
): void {
  for (const tell of [tellDaemon, writeLog]) {
    try {
      tell(end, io, exists);
    } catch {
      // A lost hint is found again in the store, and a lost line by nobody.
    }
  }
}

function tellDaemon(end: CallEnd, { env }: Ends, exists: (path: string) => boolean): void {
  if (!TOLD.includes(end.notes.command)) return;
  const socket = textOf(end, "daemonSocket") ?? env(DAEMON_SOCKET_VARIABLE) ??
    DEFAULT_DAEMON_SOCKET;
  // Asked first: without a daemon there is nothing to write down. No name means: tell nobody.
  if (socket !== "" && exists(socket)) sendHint(socket, end);
}

function writeLog(end: CallEnd, { stderr }: Ends): void {
  const [file = "", level = ""] = [textOf(end, "logFile"), textOf(end, "logLevel")];
  // The runtime has heard of failures: without a file there is nobody else to tell. A relative path
  // would be relative to wherever the runtime is.
  if (file === "" ? level !== "debug" : !file.startsWith("/")) return;
  logCall(end, { file, level, stderr });
}

/** As written: a DEL, and a call that failed early, did not look at it. */
function textOf({ notes }: CallEnd, key: string): string | undefined {
  const value = notes.config?.raw[key];
  return typeof value === "string" ? value : undefined;
}
