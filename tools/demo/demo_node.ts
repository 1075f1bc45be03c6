/**
 * The stage of the demo: a node and its pods as network namespaces, and the plugin called as a
 * container runtime calls it. All of it goes away with the node; the machine is not changed.
 */

import { DemoError } from "./demo_error.ts";

/** A pod of the story. */
export interface Pod {
  /** As the story calls it: `pod-a`. */
  readonly name: string;
  /** Of its network namespace. */
  readonly netns: string;
  readonly containerId: string;
}

/** How a call of a program ended, and how long it took. */
export interface TimedRun {
  readonly stdout: string;
  readonly elapsedMs: number;
}

/** What a ping got back. */
export interface Answers {
  readonly sent: number;
  readonly received: number;
  readonly averageMs: number;
}

/** The configuration: the one key that has no default. */
export const CONFIG = {
  cniVersion: "1.0.0",
  name: "headcni",
  type: "headcni",
  pod_cidr: "10.244.0.0/24",
} as const;

/** The node's namespace, its pods', and the plugin's data directory. */
export class DemoNode implements Disposable {
  readonly netns: string = `headcni-demo-${crypto.randomUUID().slice(0, 8)}`;
  readonly dataDirectory: string = Deno.makeTempDirSync({ prefix: "headcni-demo-" });
  readonly #program: string;
  readonly #namespaces: string[] = [];

  constructor(program: string) {
    this.#program = program;
    this.#addNamespace(this.netns);
  }

  /** A pod without a network. */
  addPod(name: string): Pod {
    const netns = `${this.netns}-${name}`;
    this.#addNamespace(netns);
    return { name, netns, containerId: netns };
  }

  /** Calls the plugin on the node for `pod`, as a runtime does. */
  async callPlugin(command: "ADD" | "DEL", pod: Pod): Promise<TimedRun> {
    return await this.run(this.#program, {
      input: JSON.stringify(CONFIG),
      env: {
        CNI_COMMAND: command,
        CNI_CONTAINERID: pod.containerId,
        CNI_NETNS: `/run/netns/${pod.netns}`,
        CNI_IFNAME: "eth0",
        CNI_PATH: this.#program.replace(/\/[^/]*$/, ""),
        HEADCNI_DATA_DIR: this.dataDirectory,
      },
    });
  }

  /** Runs a program on the node. */
  async run(program: string, options: RunOptions = {}): Promise<TimedRun> {
    const { args = [] } = options;
    const enter = [`--net=/run/netns/${this.netns}`, "--", program];
    return await run("nsenter", [...enter, ...args], options);
  }

  /** `ip -json …` on the node. */
  async ip(...args: readonly string[]): Promise<unknown> {
    const { stdout } = await run("ip", ["-n", this.netns, "-json", ...args]);
    return JSON.parse(stdout.trim() || "[]");
  }

  /** Pings from a pod. */
  async ping(from: Pod, address: string): Promise<Answers> {
    const args = ["netns", "exec", from.netns, "ping", "-n", "-c", "3", "-i", "0.2", "-W", "2"];
    return readPing((await run("ip", [...args, address])).stdout);
  }

  /** Names of our namespaces that the machine still has. */
  namespacesLeft(): string[] {
    return [...Deno.readDirSync("/run/netns")].map(({ name }) => name)
      .filter((name) => name.startsWith(this.netns));
  }

  /** Synchronous, so that it also works when somebody presses Ctrl-C. Idempotent. */
  [Symbol.dispose](): void {
    for (const name of this.#namespaces.splice(0).reverse()) ipNow("netns", "del", name);
    try {
      Deno.removeSync(this.dataDirectory, { recursive: true });
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }

  #addNamespace(name: string): void {
    ipNow("netns", "add", name);
    this.#namespaces.push(name);
    ipNow("-n", name, "link", "set", "lo", "up");
  }
}

function ipNow(...args: readonly string[]): void {
  const { success, stderr } = new Deno.Command("ip", { args: [...args] }).outputSync();
  if (success) return;
  throw new DemoError(`Cannot run ip ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
}

/** What a run may be told. */
export interface RunOptions {
  readonly args?: readonly string[];
  /** Standard input. */
  readonly input?: string;
  /** Added to the environment. */
  readonly env?: Readonly<Record<string, string>>;
}

async function run(
  program: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<TimedRun> {
  const { input = "", env = {} } = options;
  const start = performance.now();
  const child = new Deno.Command(program, {
    args: [...args],
    env: { ...env },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(input));
  await writer.close();
  const { success, stdout, stderr } = await child.output();
  const elapsedMs = performance.now() - start;
  const text = new TextDecoder();
  if (success) return { stdout: text.decode(stdout), elapsedMs };
  const said = `${text.decode(stderr)}${text.decode(stdout)}`.trim();
  throw new DemoError(`Cannot run ${program} ${args.join(" ")}: ${said}`);
}

/**
 * Reads the summary that ping ends with.
 *
 * @example
 * ```ts
 * import { readPing } from "./demo_node.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const text = "3 packets transmitted, 2 received, 33% packet loss, time 402ms\n" +
 *   "rtt min/avg/max/mdev = 0.040/0.061/0.090/0.020 ms\n";
 * assertEquals(readPing(text), { sent: 3, received: 2, averageMs: 0.061 });
 * ```
 */
export function readPing(text: string): Answers {
  const [, sent, received] = /(\d+) packets transmitted, (\d+) received/.exec(text) ?? [];
  const [, average] = /= [0-9.]+\/([0-9.]+)\//.exec(text) ?? [];
  return { sent: Number(sent), received: Number(received), averageMs: Number(average) };
}
