/** A tailnet: Headscale on a bridge, nodes with pods around it. */

import { assertEquals } from "@std/assert";
import { startHeadscale, type TestHeadscale } from "../headscale/server.ts";
import { headscale } from "./needs.ts";
import { Sniffer } from "./sniffer.ts";
import type { NodeSpec } from "./node_config.ts";
import { type AttachedPod, TailnetNode } from "./tailnet_node.ts";
import { forAll, report, until } from "./until.ts";

/** The underlay: everything that crosses it is seen by the {@linkcode Sniffer}. */
const BRIDGE = [
  "link set lo up",
  "link add br0 type bridge",
  "address add 10.99.0.1/24 dev br0",
  "address add fd99::1/64 dev br0 nodad",
  "link set br0 up",
];

/** What pods answer on. */
export const POD_PORT = 7000;
/** No packet on the underlay holds this. */
export const SECRET_TEXT = "nobody-else-reads-this";
/** What addresses inside the tunnel begin with. */
export const INNER = ["10.244.", "fd44:", "100.64.", "fd7a:115c:a1e0:"];

/** Options for {@linkcode startCluster}. */
export interface ClusterOptions {
  readonly nodes: readonly NodeSpec[];
  /** The program; the current Headscale if absent. */
  readonly headscale?: string;
  /** @default {2} */
  readonly podsPerNode?: number;
  /** Called when the machine is in the tailnet (host mode), before headcni runs. */
  readonly onJoined?: (node: TailnetNode) => Promise<void>;
}

/** What the machine resolves names by: real tailscaled write there if one lets them. */
function readNameServers(): string {
  return Deno.readTextFileSync("/etc/resolv.conf");
}

/** See the top of this file. */
export class Cluster implements AsyncDisposable {
  readonly nodes: TailnetNode[] = [];
  readonly #stack = new AsyncDisposableStack();
  readonly server: TestHeadscale;
  readonly sniffer: Sniffer;
  readonly #nameServers = readNameServers();

  constructor(server: TestHeadscale) {
    this.server = server;
    this.#stack.use(server);
    this.sniffer = this.#stack.use(new Sniffer(server.sandbox, SECRET_TEXT));
  }

  /** Adds a node, without tailscaled and pods. */
  async addNode(spec: NodeSpec): Promise<TailnetNode> {
    const node = this.#stack.use(new TailnetNode(this.server, this.nodes.length + 1, spec));
    this.nodes.push(node);
    await node.prepare();
    return node;
  }

  /** Attaches `count` pods that answer. */
  async addPods(node: TailnetNode, count: number): Promise<void> {
    for (let index = 0; index < count; index++) {
      const { pod } = await node.addPod();
      this.#stack.use(pod.namespace.listen(POD_PORT));
    }
  }

  /** Starts tailscaled, where it is not ours, and headcni. */
  async start(node: TailnetNode, onJoined?: ClusterOptions["onJoined"]): Promise<void> {
    if (node.spec.mode === "host" || node.spec.hostTailscaled === true) {
      node.startHostTailscaled();
      await node.login();
      await onJoined?.(node);
    }
    node.startHeadcni();
  }

  /** All pods. */
  get pods(): AttachedPod[] {
    return this.nodes.flatMap(({ pods }) => pods);
  }

  /** Waits until every node says that it works, and knows the routes of all others. */
  async settled(nodes: readonly TailnetNode[] = this.nodes): Promise<void> {
    await Promise.all(nodes.map((node) =>
      until(`node ${node.number} works`, async () => {
        const { working, pending, peers } = await node.status();
        const routes = peers.flatMap((peer) => peer.routes);
        const others = nodes.filter((other) => other !== node);
        return working && pending.length === 0 &&
          others.every(({ cidr4, cidr6 }) => routes.includes(cidr4) && routes.includes(cidr6));
      }, { pollMs: 1000, explain: () => explain(node) })
    ));
  }

  /** Every pod calls every pod; each sees who calls. */
  async assertAllReach(pods: readonly AttachedPod[] = this.pods): Promise<void> {
    const pairs = pods.flatMap((from) =>
      pods.filter((to) => to !== from).map((to) => ({ from, to }))
    );
    await forAll(pairs, async ({ from, to }) => {
      for (const family of ["address4", "address6"] as const) await assertReaches(from, to, family);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack[Symbol.asyncDispose]();
    assertEquals(readNameServers(), this.#nameServers, "the machine's /etc/resolv.conf changed");
  }
}

/** What is known when something does not come about. */
export async function explain(node: TailnetNode): Promise<string> {
  const status = await node.status().then((value) => JSON.stringify(value, null, 1), String);
  const rules = await node.run("ip", "rule");
  const routes = await node.run("ip", "route", "show", "table", "all");
  const routed = node.server.cli("nodes", "list-routes");
  const own = await node.api.status().then(({ self: own }) => JSON.stringify(own), String);
  const log = node.log("headcni").slice(-6000);
  return [status, own, routed, rules, routes, log].join("\n---\n");
}

async function assertReaches(
  from: AttachedPod,
  to: AttachedPod,
  family: "address4" | "address6",
): Promise<void> {
  const address = to[family];
  const what = `${from[family]} reaches ${address}`;
  await until(`${what} (ping)`, () => from.pod.namespace.reaches(address), {
    explain: () => explain(from.pod.node as TailnetNode),
  });
  const seen = await until(what, () => from.pod.namespace.fetch(address, POD_PORT));
  assertEquals(seen, from[family], `${address} sees who calls`);
}

/** Starts a whole tailnet with pods, and waits until it works. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { nodes, podsPerNode = 2 } = options;
  const started = Date.now();
  const server = await startHeadscale(options.headscale ?? headscale.path, { network: BRIDGE });
  const cluster = new Cluster(server);
  try {
    await cluster.sniffer.ready;
    server.cli("users", "create", "headcni");
    for (const spec of nodes) await cluster.addNode(spec);
    await Promise.all(cluster.nodes.map(async (node) => {
      await cluster.start(node, options.onJoined);
      await cluster.addPods(node, podsPerNode);
    }));
    await cluster.settled();
    report(`${nodes.length} nodes in ${nodes[0]?.mode} mode work after ${Date.now() - started} ms`);
    return cluster;
  } catch (error) {
    await cluster[Symbol.asyncDispose]();
    throw error;
  }
}
