/**
 * A real Headscale in a network namespace of its own, with its own directory, and real nodes that
 * join it in there. Everything ends with the test.
 */

import { Secret } from "../../lib/sys/secret.ts";
import { run, Sandbox } from "../netlink/fixture.ts";
import { pump } from "./pump.ts";

const PORT = 8080;
/** On an interface that leads nowhere: where there is none at all, tailscaled waits for one. */
export const SERVER_ADDRESS = "10.99.0.1";
/** Where nodes find the server. */
export const INNER_URL = `http://${SERVER_ADDRESS}:${PORT}`;
/** A migration of the database of 0.25 takes a second; a busy machine, longer. */
const START_TIMEOUT_MS = 90_000;
const ANSWER_TIMEOUT_MS = 10_000;
const POLL_MS = 100;

/** The network of the namespace. */
const NETWORK = [
  "link set lo up",
  "link add nowhere type veth peer name elsewhere",
  "link set elsewhere up",
  `address add ${SERVER_ADDRESS}/24 dev nowhere`,
  "link set nowhere up",
  "route add default dev nowhere",
];

/** Options for {@linkcode startHeadscale}. */
export interface ServerOptions {
  /** @default {"database"} */
  readonly policyMode?: "database" | "file";
  /** Lines of `ip` that make the network of the namespace; {@linkcode SERVER_ADDRESS} is in it. */
  readonly network?: readonly string[];
}

function config(directory: string, options: ServerOptions): string {
  return `server_url: ${INNER_URL}
listen_addr: 0.0.0.0:${PORT}
metrics_listen_addr: 127.0.0.1:9090
grpc_listen_addr: 127.0.0.1:50443
noise: { private_key_path: ${directory}/noise.key }
prefixes: { v4: 100.64.0.0/10, v6: "fd7a:115c:a1e0::/48", allocation: sequential }
database: { type: sqlite, sqlite: { path: ${directory}/db.sqlite } }
dns: { magic_dns: false, override_local_dns: false, base_domain: tailnet.test, nameservers: { global: [] } }
derp:
  server: { enabled: true, region_id: 999, region_code: t, region_name: t, verify_clients: false, stun_listen_addr: "0.0.0.0:3478", private_key_path: ${directory}/derp.key, ipv4: ${SERVER_ADDRESS} }
  urls: []
  paths: []
  auto_update_enabled: false
policy: { mode: ${options.policyMode ?? "database"} }
unix_socket: ${directory}/headscale.sock
unix_socket_permission: "0770"
disable_check_updates: true
logtail: { enabled: false }
log: { level: info }
`;
}

/** A server that runs. */
export class TestHeadscale implements AsyncDisposable {
  readonly directory: string;
  /** Where the test's process reaches it. */
  readonly url: string;
  readonly #sandbox: Sandbox;
  readonly #network: readonly string[];
  readonly #program: string;
  readonly #listener: Deno.TcpListener;
  readonly #children: Deno.ChildProcess[] = [];
  #server: Deno.ChildProcess | undefined;

  constructor(program: string, options: ServerOptions) {
    this.#program = program;
    this.directory = Deno.makeTempDirSync({ prefix: "headcni-test-" });
    Deno.writeTextFileSync(`${this.directory}/config.yaml`, config(this.directory, options));
    this.#sandbox = new Sandbox();
    this.#network = options.network ?? NETWORK;
    this.#listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    this.url = `http://127.0.0.1:${this.#listener.addr.port}`;
  }

  /** Name of the server's network namespace; there it is at 127.0.0.1:8080. */
  get netns(): string {
    return this.#sandbox.name;
  }

  /** Its namespace. */
  get sandbox(): Sandbox {
    return this.#sandbox;
  }

  /** Starts the server and waits until it answers. */
  async start(): Promise<void> {
    this.#server = this.spawn(this.#program, ["serve", "-c", `${this.directory}/config.yaml`], {
      log: "headscale.log",
    });
    for (const end = Date.now() + START_TIMEOUT_MS; Date.now() < end;) {
      if (await this.#answers()) return;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    throw new Error(`Cannot start headscale: ${this.log("headscale.log")}`);
  }

  async #answers(): Promise<boolean> {
    try {
      const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
      const reply = await fetch(`${this.url}/health`, { signal });
      return await reply.text() !== "";
    } catch {
      return false; // not yet
    }
  }

  /** Stops the server; {@linkcode TestHeadscale.start} starts it again. */
  async stop(): Promise<void> {
    await end(this.#server);
    this.#server = undefined;
  }

  /** Makes the network of the server and joins it with the loopback of the test. */
  async connect(): Promise<void> {
    for (const command of this.#network) run("ip", "-n", this.#sandbox.name, ...command.split(" "));
    const path = `${this.directory}/relay.sock`;
    const relay = new URL("relay.ts", import.meta.url).pathname;
    const args = ["run", "--no-config", "--quiet", "-A", relay, path, `${PORT}`];
    this.spawn(Deno.execPath(), args, { log: "relay.log" });
    for (const end = Date.now() + START_TIMEOUT_MS; !exists(path);) {
      if (Date.now() > end) throw new Error(`Cannot start relay: ${this.log("relay.log")}`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    (async () => {
      for await (const connection of this.#listener) {
        pump(connection, () => Deno.connect({ transport: "unix", path }));
      }
    })();
  }

  /** Starts a program in the server's namespace; it ends with the server. */
  spawn(
    program: string,
    args: readonly string[],
    options: { readonly log: string; readonly env?: Record<string, string> },
  ): Deno.ChildProcess {
    // The shell is replaced by the program, so that its process is ours to end.
    const script = 'exec "$@" >>"$0" 2>&1';
    const log = `${this.directory}/${options.log}`;
    const child = new Deno.Command("nsenter", {
      args: [`--net=/run/netns/${this.#sandbox.name}`, "sh", "-c", script, log, program, ...args],
      stdin: "null",
      stdout: "null",
      stderr: "null",
      env: { ...options.env },
    }).spawn();
    this.#children.push(child);
    return child;
  }

  /** `headscale …` on the server's machine: what it prints. */
  cli(...args: readonly string[]): string {
    return run(this.#program, "-c", `${this.directory}/config.yaml`, ...args);
  }

  /** An API key, as its administrator makes one. */
  createApiKey(): Secret {
    const printed = this.cli("apikeys", "create", "--expiration", "1h");
    return new Secret(printed.trim().split("\n").at(-1)?.trim() ?? "");
  }

  /** What a program of this server has written so far. */
  log(name: string): string {
    return Deno.readTextFileSync(`${this.directory}/${name}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    for (const child of this.#children.toReversed()) await end(child);
    this.#sandbox[Symbol.dispose]();
    Deno.removeSync(this.directory, { recursive: true });
  }
}

/** Starts the Headscale `program` and joins it with the test. */
export async function startHeadscale(
  program: string,
  options: ServerOptions = {},
): Promise<TestHeadscale> {
  const server = new TestHeadscale(program, options);
  try {
    await server.connect();
    await server.start();
    return server;
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
}

/** Asks a process to end, and ends it if it does not. */
async function end(child: Deno.ChildProcess | undefined): Promise<void> {
  if (child === undefined) return;
  const kill = (signal: Deno.Signal) => {
    try {
      child.kill(signal);
    } catch {
      // It has ended already.
    }
  };
  kill("SIGTERM");
  const timer = setTimeout(() => kill("SIGKILL"), 10_000);
  await child.status;
  clearTimeout(timer);
}

function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
