/**
 * What happens after a call has been answered: the daemon is told.
 *
 * The answer is on standard output by then and nothing here can change it. Whatever goes wrong is
 * nobody's problem: the daemon reads the store anyway, and a hint only makes it look earlier.
 */

import { pathExists } from "../sys/libc.ts";
import { type CallEnd } from "./call_notes.ts";
import { type PluginIo } from "./dispatch.ts";
import { sendHint } from "./hint.ts";

/** Where the daemon listens when nobody says otherwise. */
export const DEFAULT_DAEMON_SOCKET = "/run/headcni/headcni.sock";

/** The environment variable that moves it. */
export const DAEMON_SOCKET_VARIABLE = "HEADCNI_DAEMON_SOCKET";

/** The verbs that change what the daemon should know. */
const TOLD: readonly string[] = ["ADD", "DEL"];

/** Tells the daemon how a call ended. Never throws, never waits. */
export function tellOthers(
  end: CallEnd,
  io: Pick<PluginIo, "env">,
  exists: (path: string) => boolean = pathExists,
): void {
  try {
    if (!TOLD.includes(end.notes.command)) return;
    const socket = daemonSocket(end, io);
    // Asked first: without a daemon there is nothing to write down.
    if (socket !== "" && exists(socket)) sendHint(socket, end);
  } catch {
    // A lost hint is found again in the store.
  }
}

/** The configuration's, else the environment's, else the default; empty means: tell nobody. */
function daemonSocket({ notes }: CallEnd, { env }: Pick<PluginIo, "env">): string {
  const configured = notes.config?.raw.daemonSocket;
  if (typeof configured === "string") return configured;
  return env(DAEMON_SOCKET_VARIABLE) ?? DEFAULT_DAEMON_SOCKET;
}
