/** One attempt to have our tailscaled running: take over the one that runs, or start one. */

import { openConnection } from "../netlink/mod.ts";
import { TailscaledError } from "./errors.ts";
import { removeLeftRules } from "./left_rules.ts";
import { LocalApi } from "./local_api.ts";
import { findOtherTailscaled, otherTailscaledError } from "./other_tailscaled.ts";
import { differences, findOwn, readRecord, type Wanted, writeRecord } from "./process_record.ts";
import type { SupervisorPorts, Timing } from "./supervisor_ports.ts";
import { findTailscaled, inspectTailscaled, type TailscaledBinary } from "./tailscaled_binary.ts";
import {
  adoptTailscaled,
  cleanUp,
  openTarget,
  type RunningTailscaled,
  spawnTailscaled,
  stopProcess,
  waitUntilReady,
} from "./tailscaled_process.ts";
import {
  type CompleteSettings,
  tailscaledArgs,
  tailscaledEnvironment,
  type TailscaledFiles,
  tailscaledFiles,
} from "./tailscaled_settings.ts";

/** What a {@linkcode TailscaledLauncher} works with. */
export interface LauncherOptions {
  readonly settings: CompleteSettings;
  readonly ports: SupervisorPorts;
  readonly timing: Timing;
  /** To our tailscaled. */
  readonly api: LocalApi;
  /** The value of `PATH`, to find the program. */
  readonly searchPath: string | undefined;
  /** What tailscaled said last, for errors. */
  readonly lastLines: () => readonly string[];
}

/** A tailscaled of ours that answers. */
export interface LaunchedTailscaled extends RunningTailscaled {
  readonly version: string;
  /** In what it differs from the settings. */
  readonly outdated: readonly string[];
}

/** See the top of this file. */
export class TailscaledLauncher {
  readonly #options: LauncherOptions;
  readonly #files: TailscaledFiles;
  #binary: TailscaledBinary | undefined;

  constructor(options: LauncherOptions) {
    this.#options = options;
    this.#files = tailscaledFiles(options.settings);
  }

  /**
   * A running tailscaled that answers. After a failure none of ours is left running.
   *
   * @throws {TailscaledError} no program, another tailscaled, or no answer; the signal's reason.
   */
  async launch(signal: AbortSignal): Promise<LaunchedTailscaled> {
    const { settings, ports } = this.#options;
    const binary = await this.#inspect();
    using netns = openTarget(settings);
    const wanted = this.#wanted(binary, netns.id);
    const adopted = await this.#adopt(wanted, signal);
    if (adopted !== undefined) return adopted;
    const other = await this.#findOther(netns.id);
    if (other !== undefined) throw otherTailscaledError(other);
    const running = await this.#start(binary, signal);
    const { pid, startTicks } = running.facts;
    const bootId = ports.bootClock.bootId();
    writeRecord(ports.files, this.#files.record, { pid, startTicks, bootId, ...wanted });
    ports.log.info("tailscaled runs", { pid, version: binary.version });
    return { ...running, version: binary.version, outdated: [] };
  }

  /** Ends it and forgets it. @throws {TailscaledError} if it cannot be ended. */
  async end(running: RunningTailscaled): Promise<void> {
    const { timing: { stopMs: graceMs } } = this.#options;
    const { table, clock, log, files } = this.#options.ports;
    const ended = await stopProcess(running.facts, { table, clock, graceMs });
    files.remove(this.#files.record);
    if (ended) return;
    log.warn("tailscaled had to be killed", { pid: running.facts.pid, graceMs });
    await this.#cleanUp().catch((error) => log.warn("rules of tailscaled may be left", { error }));
  }

  /** Not beside another tailscaled, which would lose its own rules. */
  async #cleanUp(): Promise<void> {
    const { settings, ports } = this.#options;
    using netns = openTarget(settings);
    if (this.#binary === undefined || await this.#findOther(netns.id) !== undefined) return;
    await cleanUp(settings, this.#binary, ports.run);
    using connection = openConnection({ netns });
    removeLeftRules(connection);
  }

  async #start(binary: TailscaledBinary, signal: AbortSignal): Promise<RunningTailscaled> {
    const { settings, ports, timing } = this.#options;
    let running: RunningTailscaled | undefined;
    try {
      running = await spawnTailscaled(settings, binary, ports);
      await this.#ready(running, timing.readyMs, signal);
      return running;
    } catch (error) {
      if (running !== undefined) await this.end(running);
      throw this.#withLastWords(error);
    }
  }

  /** The tailscaled of an earlier run of this program, if it runs and answers. */
  async #adopt(wanted: Wanted, signal: AbortSignal): Promise<LaunchedTailscaled | undefined> {
    const { settings, timing } = this.#options;
    const { table, clock, files, log, bootClock } = this.#options.ports;
    const record = readRecord(files, this.#files.record);
    const facts = findOwn(table, {
      record,
      bootId: bootClock.bootId(),
      socket: this.#files.socket,
      stateDirectory: settings.stateDirectory,
    });
    if (facts === undefined) return undefined;
    const { pid } = facts;
    const running = adoptTailscaled(facts, { table, clock, signal });
    try {
      await this.#ready(running, timing.adoptMs, signal);
    } catch (error) {
      if (!(error instanceof TailscaledError)) throw error;
      log.warn("our tailscaled of before does not answer and is ended", { pid, error });
      await this.end(running);
      return undefined;
    }
    const outdated = differences(facts, record, wanted);
    const version = record?.version ?? wanted.version;
    log.info("tailscaled of before is taken over", { pid, version, outdated });
    return { ...running, version, outdated };
  }

  async #inspect(): Promise<TailscaledBinary> {
    const { settings: { binary: configured }, searchPath } = this.#options;
    const { files, run } = this.#options.ports;
    const path = findTailscaled({ configured, searchPath, files });
    // Asked again each time: it may have been updated, or removed, while it ran.
    return this.#binary = await inspectTailscaled(path, run);
  }

  #wanted(binary: TailscaledBinary, netnsId: string): Wanted {
    const { settings } = this.#options;
    const environment = Object.entries(tailscaledEnvironment(settings));
    return {
      args: tailscaledArgs(settings, binary),
      environment: environment.map(([name, value]) => `${name}=${value}`).sort(),
      version: binary.version,
      netnsId,
    };
  }

  async #findOther(netnsId: string): Promise<string | undefined> {
    const { settings } = this.#options;
    const { table, request, clock } = this.#options.ports;
    using netns = openTarget(settings);
    using connection = openConnection({ netns });
    const usual = new LocalApi({ request, clock, timeoutMs: 3000 });
    return await findOtherTailscaled({
      netnsId,
      connection,
      table,
      ownTun: settings.tun,
      answersAtUsualSocket: async () =>
        settings.netns === undefined &&
        await usual.status({ peers: false }).then(() => true, () => false),
    });
  }

  async #ready(running: RunningTailscaled, timeoutMs: number, signal: AbortSignal): Promise<void> {
    const { api, ports: { clock } } = this.#options;
    await waitUntilReady(running, api, { clock, timeoutMs, signal });
  }

  #withLastWords(error: unknown): unknown {
    const said = this.#options.lastLines();
    if (!(error instanceof TailscaledError) || said.length === 0) return error;
    return new TailscaledError({
      kind: error.kind,
      operation: error.operation,
      reason: `${error.reason}; it said last: ${said.join(" | ")}`,
      remedy: `Read all it said: ${this.#files.log}`,
      cause: error,
    });
  }
}
