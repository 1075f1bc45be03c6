/** Runs chains of plugins on a node of the benchmark's own, as libcni does, and measures. */

import { createNetns, deleteNetns } from "../../lib/netlink/named_netns.ts";
import { inNetns, type Netns } from "../../lib/netlink/netns.ts";
import { childrenCpuMs } from "../child_usage.ts";
import { type Chain, type Plugin } from "./chains.ts";

/** What a call cost. */
export interface Cost {
  /** From the start of the first program to the end of the last. */
  readonly wallMs: number;
  /** User and system time of all programs, those they started included. */
  readonly cpuMs: number;
}

/** A pod that may be attached. */
export interface BenchPod {
  /** Of its network namespace. */
  readonly name: string;
  readonly containerId: string;
}

/** What a run may be told. */
export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Standard input. */
  readonly input?: string;
  /** Whether a failure is expected, because the benchmark asked for it. */
  readonly mayFail?: boolean;
}

/** The environment a runtime calls a plugin with. */
export function callEnvironment(command: string, pod: BenchPod): Record<string, string> {
  return {
    CNI_COMMAND: command,
    CNI_CONTAINERID: pod.containerId,
    CNI_NETNS: `/run/netns/${pod.name}`,
    CNI_IFNAME: "eth0",
    CNI_PATH: "/usr/lib/cni",
  };
}

/** How programs are found; Debian's plugins call iptables. */
const PATH = "/usr/sbin:/usr/bin:/sbin:/bin";

/** A node and its pods. */
export class BenchNode implements Disposable {
  readonly #name = `hcnb-${crypto.randomUUID().slice(0, 8)}`;
  readonly #node: Netns = createNetns(this.#name);
  readonly #names: string[] = [this.#name];
  readonly #programs: string;

  /** @param programs directory of our program; Debian's plugins are in `/usr/lib/cni`. */
  constructor(programs: string) {
    this.#programs = programs;
  }

  /** A new pod without a network; returns the name of its namespace. */
  addPod(): string {
    const name = `${this.#name}-${this.#names.length}`;
    createNetns(name)[Symbol.dispose]();
    this.#names.push(name);
    return name;
  }

  /** ADD through the whole chain: what it cost, and the result. */
  async add(chain: Chain, pod: BenchPod): Promise<Cost & { result: unknown }> {
    let result: unknown;
    const cost = await measure(async () => {
      for (const plugin of chain.plugins) {
        result = await this.#call("ADD", { chain, plugin, pod, prevResult: result });
      }
    });
    return { ...cost, result };
  }

  /** DEL in reverse, each plugin with the result of the ADD. */
  async del(chain: Chain, pod: BenchPod, prevResult: unknown): Promise<Cost> {
    return await measure(async () => {
      for (const plugin of chain.plugins.toReversed()) {
        await this.#call("DEL", { chain, plugin, pod, prevResult });
      }
    });
  }

  /** Runs any program on the node. */
  async run(program: string, options: RunOptions = {}): Promise<Cost> {
    return await measure(async () => {
      await this.#run(program, options);
    });
  }

  [Symbol.dispose](): void {
    this.#node[Symbol.dispose]();
    for (const name of this.#names.splice(0).reverse()) deleteNetns(name);
  }

  async #call(
    command: "ADD" | "DEL",
    call: { chain: Chain; plugin: Plugin; prevResult: unknown; pod: BenchPod },
  ): Promise<unknown> {
    const { chain, plugin, prevResult, pod } = call;
    const config = { cniVersion: "1.0.0", name: chain.network, ...plugin, prevResult };
    const directory = plugin.type === "headcni" ? this.#programs : "/usr/lib/cni";
    const output = await this.#run(`${directory}/${plugin.type}`, {
      env: callEnvironment(command, pod),
      input: JSON.stringify(config),
    });
    return output === "" ? undefined : JSON.parse(output);
  }

  /** The child gets the namespace of the thread that starts it: nothing in between to pay for. */
  async #run(program: string, options: RunOptions): Promise<string> {
    const { env = {}, input = "", mayFail = false } = options;
    const child = inNetns(this.#node, () =>
      new Deno.Command(program, {
        clearEnv: true,
        env: { PATH, ...env },
        stdin: "piped",
        stdout: "piped",
        stderr: "piped",
      }).spawn());
    const writer = child.stdin.getWriter();
    // A program that does not read its input may have ended already.
    await writer.write(new TextEncoder().encode(input)).catch(() => {});
    await writer.close().catch(() => {});
    const { success, stdout, stderr } = await child.output();
    const text = new TextDecoder();
    if (success || mayFail) return text.decode(stdout);
    throw new Error(`Cannot run ${program}: ${text.decode(stdout)}${text.decode(stderr)}`);
  }
}

async function measure(work: () => Promise<void>): Promise<Cost> {
  const [cpu, start] = [childrenCpuMs(), performance.now()];
  await work();
  return { wallMs: performance.now() - start, cpuMs: childrenCpuMs() - cpu };
}
