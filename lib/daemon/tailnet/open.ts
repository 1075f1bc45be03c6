/** Opens all that the tailnet part works with, from the configuration. */

import { podsOf } from "../../cni/native/stored_pods.ts";
import { LatencyHistogram, openHeadscale, readApiKey } from "../../headscale/mod.ts";
import { dataDirectory } from "../../store/location.ts";
import { systemClock } from "../../sys/clock.ts";
import { denoFiles } from "../../sys/files.ts";
import { type Log } from "../../sys/log.ts";
import { procTable } from "../../sys/process_table.ts";
import { ISOLATION_NAME, LocalApi, TailscaledSupervisor } from "../../tailscale/mod.ts";
import type { NodeConfig } from "../config.ts";
import type { Desired } from "./desired.ts";
import type { LoopContext } from "./loop.ts";
import { NodeKernel } from "./observe_kernel.ts";

/** Everything opened; closes what has to be closed. */
export interface OpenTailnet extends LoopContext, Disposable {}

/** Options for {@linkcode openTailnet}. */
export interface OpenOptions {
  readonly log: Log;
  readonly env: (name: string) => string | undefined;
  /** Told when our tailscaled has started or ended. */
  readonly onTailscaled?: () => void;
}

/**
 * Opens what `config` names. Nothing is asked or changed yet.
 *
 * @throws {ApiKeyError} {@linkcode SecretFileError} {@linkcode FileError}
 */
export function openTailnet(config: NodeConfig, options: OpenOptions): OpenTailnet {
  const { log, env } = options;
  const { headscale: server, tailscale } = config;
  const apiKey = readApiKey({
    file: server.apiKeyFile,
    credentialsDirectory: env("CREDENTIALS_DIRECTORY"),
  });
  const latency = new LatencyHistogram();
  const headscale = openHeadscale({
    record: latency.record,
    url: server.url,
    apiKey,
    caFile: server.caFile,
    log,
    attemptMs: 3000,
    deadlineMs: 8000,
  });
  const supervisor = tailscale.mode === "host" ? undefined : superviseOwn(config, options);
  const kernel = new NodeKernel();
  return {
    desired: desiredOf(config),
    kernel,
    tun: tailscale.tun,
    headscale,
    latency,
    supervisor,
    api: supervisor?.api ?? new LocalApi({ socketPath: tailscale.socket }),
    owner: { user: server.user, tags: server.tags },
    conceal: (key) => supervisor?.conceal(key),
    pods: () =>
      podsOf({
        directory: dataDirectory(undefined, env),
        observe: () => Promise.resolve([]),
      }),
    files: denoFiles,
    stateDirectory: config.stateDir,
    recordPath: `${config.stateDir}/tailnet.json`,
    clock: systemClock,
    table: procTable,
    log,
    [Symbol.dispose]() {
      headscale[Symbol.dispose]();
      kernel[Symbol.dispose]();
    },
  };
}

function superviseOwn(config: NodeConfig, options: OpenOptions): TailscaledSupervisor {
  const { tailscale, runtimeDir } = config;
  const { log, env, onTailscaled = () => {} } = options;
  return new TailscaledSupervisor({
    settings: {
      binary: tailscale.binary,
      tun: tailscale.tun,
      runtimeDirectory: runtimeDir,
      stateDirectory: tailscale.stateDir,
      port: tailscale.port,
      environment: tailscale.environment,
      ...(tailscale.isolation === "netns" ? { netns: ISOLATION_NAME } : {}),
    },
    searchPath: env("PATH") ?? "",
    log,
    onChange: onTailscaled,
  });
}

function policyNeed({ headscale, network: { podCIDR } }: NodeConfig): Desired["policy"] {
  const [tag] = headscale.tags;
  if (headscale.policy === "leave" || tag === undefined) return undefined;
  return { tag, prefixes: podCIDR.base };
}

/** The wish in `config`. */
export function desiredOf(config: NodeConfig): Desired {
  const { tailscale, network: { podCIDR } } = config;
  return {
    mode: tailscale.mode,
    isolation: tailscale.isolation,
    tun: tailscale.tun,
    prefixes: podCIDR.nodeLocal,
    base: podCIDR.base,
    controlUrl: config.headscale.url,
    policy: policyNeed(config),
    hostname: tailscale.hostname,
  };
}
