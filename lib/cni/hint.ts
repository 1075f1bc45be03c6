/**
 * One datagram to the daemon about a call that has ended.
 *
 * A datagram, sent without waiting: who does not read, is away or is somebody else costs the call
 * a few microseconds. So the daemon must take a hint for what it is, and read the store.
 */

import { sendUnixDatagram } from "../netlink/unix_datagram.ts";
import { type CallEnd } from "./call_notes.ts";
import { parseCniArgs, type PodIdentity, podOf } from "./cni_args.ts";

/** The version of {@linkcode Hint}; a reader ignores hints of a version it does not know. */
export const HINT_VERSION = 1;

/** What the daemon is told. Keys may be added within a version. */
export interface Hint {
  readonly version: typeof HINT_VERSION;
  readonly verb: string;
  readonly outcome: "success" | "failure";
  /** Absent, like the next four, if the call failed before it was known. */
  readonly network?: string;
  readonly containerId?: string;
  readonly ifname?: string;
  readonly netns?: string;
  /** As `CNI_ARGS` names it. */
  readonly pod?: { readonly namespace: string; readonly name: string; readonly uid?: string };
  readonly addresses: readonly string[];
  /** `enable_network_policy` of the configuration. */
  readonly networkPolicy: boolean;
  /** Class of the error and the number the runtime was told; its text is for the runtime only. */
  readonly error?: { readonly class: string; readonly code: number };
  /** See `docs/plugin.md`. */
  readonly phasesMs: Readonly<Record<string, number>>;
}

/** What there is to tell about a call. */
export function makeHint({ notes, failure }: CallEnd): Hint {
  const { command, config, parameters, addresses } = notes;
  const pod = podOf(parseCniArgs(parameters?.args ?? ""));
  return {
    version: HINT_VERSION,
    verb: command,
    outcome: failure === undefined ? "success" : "failure",
    ...(config === undefined ? {} : { network: config.name }),
    ...(parameters === undefined ? {} : {
      containerId: parameters.containerId,
      ifname: parameters.ifname,
      ...(parameters.netns === "" ? {} : { netns: parameters.netns }),
    }),
    ...(pod === undefined ? {} : { pod: podPart(pod) }),
    addresses,
    networkPolicy: config?.raw.enable_network_policy === true,
    ...(failure === undefined
      ? {}
      : { error: { class: classOf(failure.error), code: failure.told.code } }),
    phasesMs: notes.phasesMs(),
  };
}

/** Sends the hint about `end` to the socket at `path`. */
export function sendHint(path: string, end: CallEnd): void {
  sendUnixDatagram(path, new TextEncoder().encode(JSON.stringify(makeHint(end))));
}

function podPart({ namespace, name, uid }: PodIdentity): NonNullable<Hint["pod"]> {
  return { namespace, name, ...(uid === undefined ? {} : { uid }) };
}

function classOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
