/**
 * `headcni tailnet`: the tailnet part of the daemon on its own, for machines without Kubernetes
 * and for a look at it.
 */

import { DeadlineError } from "../sys/clock.ts";
import { type HeldLock, lockFile } from "../sys/file_lock.ts";
import { denoFiles } from "../sys/files.ts";
import { HeadcniError } from "../sys/errors.ts";
import { createLog, discardLog, type Log } from "../sys/log.ts";
import { stderrSink } from "../sys/log_sink.ts";
import { ensurePrivateDirectory } from "../sys/private_path.ts";
import { DEFAULT_CONFIG_PATH, type NodeConfig, parseConfig } from "./config.ts";
import { leave, type LeaveReport } from "./tailnet/leave.ts";
import { TailnetLoop } from "./tailnet/loop.ts";
import { openTailnet } from "./tailnet/open.ts";
import { readStatus, type TailnetStatus } from "./tailnet/status_report.ts";
import { ensureIsolation } from "../tailscale/mod.ts";

export type { LeaveReport, TailnetStatus };

/** Another process is at it. */
export class TailnetBusyError extends HeadcniError {
  override readonly name = "TailnetBusyError";
}

/** How a command is called. */
export interface FaceOptions {
  /** @default {"/etc/headcni/config.yaml"} */
  readonly configPath?: string | undefined;
  readonly env: (name: string) => string | undefined;
}

const LOCK_TIMEOUT_MS = 3000;

/**
 * Keeps this node in the tailnet until `signal`. Packets flow on afterwards: in daemon mode
 * tailscaled runs on, and the next run takes it over.
 *
 * @throws {NodeConfigError} {@linkcode TailscaledError} {@linkcode TailnetBusyError}
 */
export async function runTailnet(options: FaceOptions, signal: AbortSignal): Promise<void> {
  const config = readConfig(options);
  const log = createLog({ ...config.log, sink: stderrSink() });
  using _lock = await lockAlone(config);
  let loop: TailnetLoop | undefined;
  using tailnet = openTailnet(config, { ...options, log, onTailscaled: () => loop?.wake() });
  if (config.tailscale.isolation === "netns") ensureIsolation();
  await tailnet.supervisor?.start();
  try {
    loop = new TailnetLoop(tailnet);
    log.info("keeping this node in the tailnet", {
      mode: config.tailscale.mode,
      podCIDR: config.network.podCIDR.nodeLocal.join(", "),
    });
    await loop.run(signal);
  } finally {
    await tailnet.supervisor?.release();
  }
  for (const { operation, outcome, count, sumS } of tailnet.latency.rows()) {
    log.debug("Headscale was asked", { operation, outcome, count, meanMs: 1000 * sumS / count });
  }
  log.info("ended; packets flow on, headcni tailnet leave ends that, too");
}

/** A look at everything. @throws {NodeConfigError} */
export async function tailnetStatus(options: FaceOptions): Promise<TailnetStatus> {
  const config = readConfig(options);
  using tailnet = openTailnet(config, { ...options, log: discardLog });
  return await readStatus(tailnet);
}

/** Puts back what was changed. @throws {TailnetBusyError} while {@linkcode runTailnet} runs. */
export async function leaveTailnet(options: FaceOptions): Promise<LeaveReport> {
  const config = readConfig(options);
  const log: Log = createLog({ level: "WARN", sink: stderrSink() });
  using _lock = await lockAlone(config);
  using tailnet = openTailnet(config, { ...options, log });
  // Taken over, so that it can be told to log out; started if it does not run.
  await tailnet.supervisor?.start();
  return await leave(tailnet);
}

function readConfig({ configPath = DEFAULT_CONFIG_PATH }: FaceOptions): NodeConfig {
  return parseConfig(denoFiles.readText(configPath), configPath);
}

async function lockAlone({ runtimeDir }: NodeConfig): Promise<HeldLock> {
  ensurePrivateDirectory(runtimeDir);
  const path = `${runtimeDir}/tailnet.lock`;
  try {
    return await lockFile(path, { mode: "exclusive", timeoutMs: LOCK_TIMEOUT_MS });
  } catch (cause) {
    if (!(cause instanceof DeadlineError)) throw cause;
    throw new TailnetBusyError({
      operation: "look after the tailnet of this node",
      reason: `another headcni does: it holds ${path}`,
      remedy: `Find and end it: fuser -v ${path}`,
      cause,
    });
  }
}
