/** Real tailscaled processes in network namespaces, ended with the test. */

import { assert } from "@std/assert";
import {
  LocalApi,
  type SupervisorOptions,
  type SupervisorState,
  TailscaledSupervisor,
} from "../../lib/tailscale/mod.ts";
import { procTable } from "../../lib/sys/process_table.ts";
import { type RecordingLog, recordingLog } from "../../lib/sys/testing.ts";
import { TAILSCALE_VERSION } from "../../tools/go_parts/parts.ts";
import { Sandbox } from "../netlink/fixture.ts";
import { type BuiltPart, kernel, type Need, part, requires, root } from "../requires.ts";

/** The program all tests here run. */
export const tailscaled: BuiltPart = await part("tailscaled", TAILSCALE_VERSION);

const tun: Need = kernel("/dev/net/tun", () => {
  try {
    return Deno.statSync("/dev/net/tun").isCharDevice === true;
  } catch {
    return false;
  }
});

/** Options of every test here. The exit of a child may be noticed after its test. */
export const NEEDS = {
  ...requires(root, tailscaled, tun),
  sanitizeOps: false,
  sanitizeResources: false,
};

/** Noisy machines take their time. */
const PATIENCE_MS = 60_000;

/** Waits until `probe` gives something. */
export async function until<T>(
  what: string,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end;) {
    const found = await probe();
    if (found !== undefined && found !== false) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`Cannot go on: still not so after a minute: ${what}`);
}

/** A node: a namespace and directories for one tailscaled. */
export class TestHost implements AsyncDisposable {
  readonly sandbox: Sandbox = new Sandbox();
  readonly directory: string = Deno.makeTempDirSync({ prefix: "headcni-test-" });
  readonly log: RecordingLog = recordingLog();
  readonly states: SupervisorState[] = [];

  constructor() {
    this.sandbox.ip("link", "set", "lo", "up");
  }

  /** Options of a supervisor for this node. */
  options(more: SupervisorOptions = {}): SupervisorOptions {
    return {
      log: this.log,
      onChange: (state) => this.states.push(state),
      ...more,
      settings: {
        binary: tailscaled.path,
        netns: this.sandbox.name,
        runtimeDirectory: `${this.directory}/run`,
        stateDirectory: `${this.directory}/state`,
        environment: { TS_DEBUG_USE_DERP_HTTP: "true", TS_DISABLE_PORTMAPPER: "1" },
        ...more.settings,
      },
    };
  }

  /** A supervisor for this node; start it. */
  supervisor(more: SupervisorOptions = {}): TailscaledSupervisor {
    return new TailscaledSupervisor(this.options(more));
  }

  /** Starts a tailscaled that is not ours, as a distribution would. */
  async foreign(options: { readonly tun?: string } = {}): Promise<LocalApi> {
    const { tun = "tailscale0" } = options;
    const directory = `${this.directory}/foreign`;
    Deno.mkdirSync(directory, { recursive: true });
    Deno.chmodSync(this.directory, 0o755);
    const socketPath = `${directory}/tailscaled.sock`;
    new Deno.Command("nsenter", {
      args: [
        `--net=/run/netns/${this.sandbox.name}`,
        tailscaled.path,
        `--tun=${tun}`,
        `--socket=${socketPath}`,
        `--statedir=${directory}`,
        "--port=0",
        "--no-logs-no-support",
      ],
      env: { TS_LOGS_DIR: directory },
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    const api = new LocalApi({ socketPath });
    await until("the foreign tailscaled answers", () => api.status().then(() => true, () => false));
    return api;
  }

  /** Numbers of the tailscaled processes in the namespace. */
  pids(): number[] {
    const { id } = this.sandbox.netns;
    return procTable.list()
      .filter(({ name, netnsId }) => name === "tailscaled" && netnsId === id)
      .map(({ pid }) => pid);
  }

  /** The names of the links in the namespace. */
  links(): string[] {
    return this.sandbox.ip("link", "show").map(({ ifname }) => ifname);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const pid of this.pids()) procTable.signal(pid, "SIGKILL");
    await until("all tailscaled have ended", () => this.pids().length === 0);
    this.sandbox[Symbol.dispose]();
    Deno.removeSync(this.directory, { recursive: true });
  }
}

/** The process of a supervisor that runs one. */
export function pidOf(supervisor: TailscaledSupervisor): number {
  const { state } = supervisor;
  assert(state.phase === "running", `tailscaled is ${state.phase}`);
  return state.pid;
}
