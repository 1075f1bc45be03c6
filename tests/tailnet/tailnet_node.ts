/**
 * A node of the rig: a namespace on the bridge, the compiled plugin and its pods, tailscaled and
 * the compiled `headcni tailnet`.
 */

import { assertEquals } from "@std/assert";
import { PROGRAM } from "../binary/program.ts";
import { INNER_URL, SERVER_ADDRESS, type TestHeadscale } from "../headscale/server.ts";
import { LocalApi } from "../../lib/tailscale/mod.ts";
import type { TailnetStatus } from "../../lib/daemon/tailnet_face.ts";
import type { Json } from "../plugin/namespace.ts";
import { type Ending, execute } from "../plugin/namespace.ts";
import { run } from "../netlink/fixture.ts";
import { Node, type Pod } from "../plugin/node.ts";
import { tailscale, tailscaled } from "./needs.ts";
import { ENVIRONMENT, nodeConfig, type NodeSpec } from "./node_config.ts";
import { until } from "./until.ts";

/** A pod with its addresses. */
export interface AttachedPod {
  readonly pod: Pod;
  readonly address4: string;
  readonly address6: string;
}

/**
 * Runs a program with an `/etc` of its own. A tailscaled that is logged in writes its DNS settings to
 * `/etc/resolv.conf`, and all nodes of a test share the machine's files.
 */
const OWN_ETC = `
set -e
layer=$(mktemp -d "$0/etc-XXXXXX")
mkdir "$layer/upper" "$layer/work"
mount -t overlay overlay -o "lowerdir=/etc,upperdir=$layer/upper,workdir=$layer/work" /etc
exec "$@"
`;

/** See the top of this file. */
export class TailnetNode extends Node {
  readonly directory: string = Deno.makeTempDirSync({ prefix: "headcni-test-" });
  readonly number: number;
  readonly spec: NodeSpec;
  readonly server: TestHeadscale;
  readonly pods: AttachedPod[] = [];
  #hasMounts = false;
  readonly #children = new Map<string, Deno.ChildProcess>();

  constructor(server: TestHeadscale, number: number, spec: NodeSpec) {
    super(`tn${number}`);
    this.server = server;
    this.number = number;
    this.spec = spec;
    Deno.chmodSync(this.directory, 0o700);
  }

  get cidr4(): string {
    return `10.244.${this.spec.subnet ?? this.number}.0/24`;
  }

  get cidr6(): string {
    return `fd44:0:0:${this.spec.subnet ?? this.number}::/64`;
  }

  /** Where the machine's own tailscaled listens. */
  get hostSocket(): string {
    return `${this.directory}/host/tailscaled.sock`;
  }

  /** Where the tailscaled that carries pods listens. */
  get socket(): string {
    return this.spec.mode === "host" ? this.hostSocket : `${this.directory}/run/tailscaled.sock`;
  }

  get api(): LocalApi {
    return new LocalApi({ socketPath: this.socket });
  }

  /** Name of the tunnel. */
  get tun(): string {
    return this.spec.mode === "host" ? "tailscale0" : "headcni01";
  }

  get configPath(): string {
    return `${this.directory}/config.yaml`;
  }

  /** Connects it to the bridge and writes its configuration. */
  async prepare(): Promise<void> {
    const bridge = this.server.sandbox.name;
    const cable = `tn${this.number}-${this.name.slice(-6)}`;
    await this.configure(
      "link set lo up",
      `link add eth0 type veth peer name ${cable} netns ${bridge}`,
      `address add 10.99.0.1${this.number}/24 dev eth0`,
      `address add fd99::1${this.number}/64 dev eth0 nodad`,
      "link set eth0 up",
      `route add default via ${SERVER_ADDRESS}`,
      "route add default via fd99::1",
    );
    this.server.sandbox.ip("link", "set", cable, "master", "br0", "up");
    const apiKey = this.spec.apiKey ?? this.server.createApiKey().expose();
    Deno.writeTextFileSync(`${this.directory}/api.key`, apiKey, { mode: 0o600 });
    Deno.writeTextFileSync(this.configPath, nodeConfig(this));
  }

  /** Starts a program here that ends with the node; its output goes to `NAME.log`. */
  spawn(name: string, command: readonly string[], env: Record<string, string> = {}): void {
    const script = 'exec "$@" >>"$0" 2>&1';
    const log = `${this.directory}/${name}.log`;
    const [program = "", ...args] = this.inside("sh", "-c", script, log, ...command);
    const child = new Deno.Command(program, {
      args,
      stdin: "null",
      stdout: "null",
      stderr: "null",
      env: { ...env },
    }).spawn();
    this.#children.set(name, child);
  }

  /** Ends a program of {@linkcode spawn} and waits for its end. */
  async end(name: string, signal: Deno.Signal = "SIGTERM"): Promise<void> {
    const child = this.#children.get(name);
    if (child === undefined) return;
    this.#children.delete(name);
    try {
      child.kill(signal);
    } catch {
      // It has ended by itself.
    }
    const timer = setTimeout(() => child.kill("SIGKILL"), 20_000);
    await child.status;
    clearTimeout(timer);
  }

  /** What a program of {@linkcode spawn} has printed. */
  log(name: string): string {
    try {
      return Deno.readTextFileSync(`${this.directory}/${name}.log`);
    } catch {
      return "";
    }
  }

  /** Starts the machine's own tailscaled, as systemd would. */
  startHostTailscaled(): void {
    const directory = `${this.directory}/host`;
    Deno.mkdirSync(directory, { recursive: true });
    this.spawn("host-tailscaled", [
      ...["unshare", "--mount", "--propagation", "private", "sh", "-c", OWN_ETC],
      directory,
      tailscaled.path,
      "--tun=tailscale0",
      `--socket=${this.hostSocket}`,
      `--statedir=${directory}`,
      "--port=41641",
      "--no-logs-no-support",
    ], { ...ENVIRONMENT, TS_LOGS_DIR: directory });
  }

  /** `tailscale …` of the machine. */
  async tailscale(...args: readonly string[]): Promise<string> {
    const command = [tailscale.path, `--socket=${this.hostSocket}`, ...args];
    const { code, stdout, stderr } = await execute({ command });
    assertEquals(code, 0, `tailscale ${args[0]}: ${stdout}${stderr}`);
    return stdout;
  }

  #createKey(): string {
    const create = (user: string) =>
      this.server.cli("preauthkeys", "create", "--user", user, "--expiration", "1h", "--reusable");
    try {
      return create("1");
    } catch {
      return create("headcni"); // up to 0.25 by name
    }
  }

  /** Logs the machine in, as its administrator would. */
  async login(...more: readonly string[]): Promise<void> {
    const key = this.#createKey();
    const file = `${this.directory}/login.key`;
    Deno.writeTextFileSync(file, key.trim().split("\n").at(-1)?.trim() ?? "", { mode: 0o600 });
    await until(
      "the machine's tailscaled answers",
      () => new LocalApi({ socketPath: this.hostSocket }).status().then(() => true, () => false),
    );
    await this.tailscale(
      "up",
      `--auth-key=file:${file}`,
      `--login-server=${INNER_URL}`,
      `--hostname=n${this.number}`,
      "--timeout=60s",
      ...more,
    );
    Deno.removeSync(file);
  }

  /** Starts `headcni tailnet run`. */
  startHeadcni(): void {
    this.spawn("headcni", this.headcni("run"), { HEADCNI_DATA_DIR: this.dataDir });
  }

  /** Runs `headcni tailnet VERB` to its end. */
  headcniOutput(verb: string, ...more: readonly string[]): Promise<Ending> {
    return execute({ command: this.inside(...this.headcni(verb, ...more)) });
  }

  /** The command line of `headcni tailnet VERB`. */
  headcni(verb: string, ...more: readonly string[]): readonly string[] {
    const command = [PROGRAM, "tailnet", verb, "--config", this.configPath, ...more];
    if (this.spec.isolation !== "netns") return command;
    // The namespace of our tailscaled has a fixed name: here it is this node's alone.
    return ["nsenter", `--mount=${this.#mounts()}`, ...command];
  }

  /** A mount namespace in which `/run/netns` is empty. */
  #mounts(): string {
    const path = `${this.directory}/m/ns`;
    if (!this.#hasMounts) {
      this.#hasMounts = true;
      Deno.mkdirSync(`${this.directory}/m`);
      run("mount", "--bind", "--make-private", `${this.directory}/m`, `${this.directory}/m`);
      Deno.writeTextFileSync(path, "");
      const script = "umount --lazy --recursive /run/netns; mount -t tmpfs none /run/netns";
      run("unshare", `--mount=${path}`, "sh", "-c", script);
    }
    return path;
  }

  /** What `headcni tailnet status` says. */
  async status(): Promise<TailnetStatus> {
    const { stdout, stderr } = await this.headcniOutput("status", "--json");
    if (stdout === "") throw new Error(`Cannot get the status: ${stderr}`);
    return JSON.parse(stdout);
  }

  /** Attaches a pod with the compiled plugin. */
  async addPod(): Promise<AttachedPod> {
    const pod = await this.pod();
    const result = await pod.add({
      cniVersion: "1.1.0",
      name: "podnet",
      type: "headcni",
      pod_cidr: [this.cidr4, this.cidr6].join(","),
      enable_ipv6: true,
    });
    const of = (family: string) => {
      const found = result.ips.find(({ address }: Json) =>
        address.includes(":") === (family === "6")
      );
      return `${found.address}`.split("/")[0] ?? "";
    };
    const attached = { pod, address4: of("4"), address6: of("6") };
    this.pods.push(attached);
    return attached;
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    for (const name of [...this.#children.keys()].reverse()) await this.end(name);
    await this.#endTailscaled();
    await super[Symbol.asyncDispose]();
    if (this.#hasMounts) run("umount", "--recursive", `${this.directory}/m`);
    Deno.removeSync(this.directory, { recursive: true });
  }

  /** Our own runs on when headcni ends; here it must not. */
  async #endTailscaled(): Promise<void> {
    const pids = () =>
      [...Deno.readDirSync("/proc")].map(({ name }) => Number(name)).filter((pid) => {
        try {
          return Deno.readTextFileSync(`/proc/${pid}/cmdline`).includes(this.directory) &&
            Deno.readTextFileSync(`/proc/${pid}/comm`).trim() === "tailscaled";
        } catch {
          return false;
        }
      });
    for (const pid of pids()) Deno.kill(pid, "SIGTERM");
    await until("all tailscaled of the node have ended", () => pids().length === 0, {
      patienceMs: 20_000,
    });
  }
}
