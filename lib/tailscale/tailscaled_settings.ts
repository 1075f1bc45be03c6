/** How our own tailscaled is run: files, flags and environment, each for a reason. */

import { checkLinkName } from "../netlink/mod.ts";
import { TailscaledError } from "./errors.ts";
import type { TailscaledBinary } from "./tailscaled_binary.ts";

/** Settings of the supervised tailscaled. */
export interface TailscaledSettings {
  /** Path of the program; searched for if absent. */
  readonly binary?: string | undefined;
  /** Name of the tunnel. @default {"headcni01"} */
  readonly tun?: string;
  /** For socket, log and record: gone after a boot. @default {"/run/headcni"} */
  readonly runtimeDirectory?: string;
  /** For the node's keys: kept for ever. @default {"/var/lib/headcni/tailscale"} */
  readonly stateDirectory?: string;
  /** UDP, for WireGuard; 41641 is the usual tailscaled's. @default {41645} */
  readonly port?: number;
  /** Name of the network namespace to run in; this program's own if absent. */
  readonly netns?: string | undefined;
  /** More variables: `HTTPS_PROXY`, `SSL_CERT_FILE`, `TS_DEBUG_MTU`. Never secrets. */
  readonly environment?: Readonly<Record<string, string>>;
  /**
   * What becomes of it when this program ends unasked. `runOn`: traffic goes on, and the next
   * start takes it over. `end`: the kernel sends it SIGTERM (through setpriv of util-linux).
   *
   * @default {"runOn"}
   */
  readonly whenOrphaned?: "runOn" | "end";
}

/** Settings with nothing left open. */
export type CompleteSettings = Required<Omit<TailscaledSettings, "binary" | "netns">> & {
  readonly binary: string | undefined;
  readonly netns: string | undefined;
};

/** Files of the supervised tailscaled. */
export interface TailscaledFiles {
  readonly socket: string;
  readonly state: string;
  /** What it prints; mode 0600. */
  readonly log: string;
  /** Which process it is; see `process_record.ts`. */
  readonly record: string;
  /** Held by the one who supervises it. */
  readonly lock: string;
}

/** `sizeof(sockaddr_un.sun_path)` without the zero byte at its end; unix(7). */
const MAX_SOCKET_BYTES = 107;

/**
 * `settings` with defaults.
 *
 * @throws {InvalidRequestError} if `tun` is no name of a link.
 * @throws {TailscaledError} `Unusable` if there can be no socket in the directory.
 */
export function completeSettings(settings: TailscaledSettings): CompleteSettings {
  const complete = withDefaults(settings);
  checkLinkName("run tailscaled", complete.tun);
  const { socket } = tailscaledFiles(complete);
  if (new TextEncoder().encode(socket).length <= MAX_SOCKET_BYTES) return complete;
  throw new TailscaledError({
    kind: "Unusable",
    operation: "run tailscaled",
    subject: socket,
    reason: `the path of a socket has at most ${MAX_SOCKET_BYTES} bytes`,
    remedy: "Choose a shorter directory",
  });
}

function withDefaults(settings: TailscaledSettings): CompleteSettings {
  return {
    binary: settings.binary,
    tun: settings.tun ?? "headcni01",
    runtimeDirectory: settings.runtimeDirectory ?? "/run/headcni",
    stateDirectory: settings.stateDirectory ?? "/var/lib/headcni/tailscale",
    port: settings.port ?? 41645,
    netns: settings.netns,
    environment: settings.environment ?? {},
    whenOrphaned: settings.whenOrphaned ?? "runOn",
  };
}

/** Where its files are. */
export function tailscaledFiles(
  { runtimeDirectory, stateDirectory }: Pick<
    CompleteSettings,
    "runtimeDirectory" | "stateDirectory"
  >,
): TailscaledFiles {
  return {
    socket: `${runtimeDirectory}/tailscaled.sock`,
    state: `${stateDirectory}/tailscaled.state`,
    log: `${runtimeDirectory}/tailscaled.log`,
    record: `${runtimeDirectory}/tailscaled.json`,
    lock: `${runtimeDirectory}/tailscaled.lock`,
  };
}

/** Flags for `settings`, as far as the program knows them. */
export function tailscaledArgs(
  settings: CompleteSettings,
  binary: Pick<TailscaledBinary, "flags">,
): readonly string[] {
  const { socket, state } = tailscaledFiles(settings);
  const optional = [
    // Sealed by the TPM, the state is lost with it: a new board, a restored image, and the
    // node comes back as a stranger. The directory is ours alone.
    "--encrypt-state=false",
    "--hardware-attestation=false",
  ];
  return [
    `--tun=${settings.tun}`,
    `--socket=${socket}`,
    `--statedir=${settings.stateDirectory}`,
    `--state=${state}`,
    `--port=${settings.port}`,
    // Headscale's users have no contract with Tailscale Inc. to send logs for.
    "--no-logs-no-support",
    ...optional.filter((flag) => binary.flags.has(flag.slice(2).split("=", 1)[0] ?? "")),
  ];
}

/** The whole environment: nothing of this program's, so no key and no systemd socket of ours. */
export function tailscaledEnvironment(settings: CompleteSettings): Record<string, string> {
  return {
    // For iptables, if it is the firewall of choice.
    PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    // Otherwise it writes to /var/lib/tailscale, which is another tailscaled's.
    TS_LOGS_DIR: settings.stateDirectory,
    ...settings.environment,
  };
}
