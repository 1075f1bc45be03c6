/** Debian's plugins behind ours: configurations, and a node that runs them. */

import { type Json } from "../plugin/namespace.ts";
import { type Answer, type Call, type Node, type Pod } from "../plugin/node.ts";
import { readStore } from "../plugin/snapshot.ts";
import { requires, root, tool } from "../requires.ts";
import { PEERS } from "../ipam/plugin.ts";

/** What tests with Debian's plugins need. */
export const NEEDS: { readonly ignore: boolean } = requires(
  root,
  tool("ip", "iproute2"),
  tool("tc", "iproute2"),
  tool("nft", "nftables"),
  tool("iptables"),
  tool("nsenter", "util-linux"),
  tool("ping", "iputils-ping"),
  tool("bridge", "containernetworking-plugins"),
);

/** The port of the node that leads to port 80 of the pod. */
export const HOST_PORT = 8080;

/** What a runtime wants for the pod. */
export const RUNTIME_CONFIG = {
  portMappings: [{ hostPort: HOST_PORT, containerPort: 80, protocol: "tcp" }],
  bandwidth: { ingressRate: 8e8, ingressBurst: 8e7, egressRate: 8e8, egressBurst: 8e7 },
};

/** Where the subnet file of a node is. */
export function subnetFile(node: { readonly dataDir: string }): string {
  return `${node.dataDir}/subnet.env`;
}

/** Writes the subnet file; `more` replaces lines. */
export function writeSubnetFile(
  node: { readonly dataDir: string },
  more: Readonly<Record<string, string>> = {},
): void {
  const lines = {
    HEADCNI_NETWORK: "10.85.0.0/16",
    HEADCNI_SUBNET: "10.85.7.1/24",
    HEADCNI_IPV6_NETWORK: "fd85::/48",
    HEADCNI_IPV6_SUBNET: "fd85:0:0:7::1/64",
    HEADCNI_MTU: "1400",
    HEADCNI_IPMASQ: "false",
    ...more,
  };
  Deno.writeTextFileSync(
    subnetFile(node),
    Object.entries(lines).map(([key, value]) => `${key}=${value}\n`).join(""),
  );
}

/** Where host-local of these tests keeps its files. */
export function hostLocalDir(node: { readonly dataDir: string }): string {
  return `${node.dataDir}/host-local`;
}

/** One delegate, a bridge with host-local by default. */
export function delegateConfig(node: { readonly dataDir: string }, more: Json = {}): Json {
  return {
    cniVersion: "1.0.0",
    name: "realnet",
    type: "headcni",
    subnetFile: subnetFile(node),
    ipam: {
      dataDir: hostLocalDir(node),
      routes: [{ dst: "0.0.0.0/0" }, { dst: "::/0" }],
    },
    delegate: { hairpinMode: true },
    ...more,
  };
}

/** The bridge and everything Debian has to put after it, as one list. */
export function pluginsConfig(node: { readonly dataDir: string }, more: Json = {}): Json {
  return {
    cniVersion: "1.0.0",
    name: "realnet",
    type: "headcni",
    plugins: [
      {
        type: "bridge",
        bridge: "cni0",
        isGateway: true,
        ipMasq: true,
        hairpinMode: true,
        mtu: 1400,
        ipam: {
          type: "host-local",
          dataDir: hostLocalDir(node),
          ranges: [[{ subnet: "10.85.7.0/24" }]], // CHECK of portmap 1.1.1 fails with IPv6 added
          routes: [{ dst: "0.0.0.0/0" }],
        },
      },
      { type: "portmap", capabilities: { portMappings: true }, snat: true },
      { type: "bandwidth", capabilities: { bandwidth: true } },
      { type: "firewall", backend: "iptables" },
      {
        type: "tuning",
        dataDir: `${node.dataDir}/tuning`,
        sysctl: { "net.core.somaxconn": "600" },
        promisc: true,
      },
    ],
    runtimeConfig: RUNTIME_CONFIG,
    ...more,
  };
}

const WITH_PEERS: Call = { env: { CNI_PATH: PEERS } };

/** ADD that must succeed: its result. */
export function addPod(pod: Pod, config: Json, more: Call = {}): Promise<Json> {
  return pod.add(config, { ...more, ...WITH_PEERS });
}

/** DEL that must succeed. */
export function delPod(pod: Pod, config: Json, more: Call = {}): Promise<void> {
  return pod.del(config, { ...more, ...WITH_PEERS });
}

/** CHECK of what ADD told. */
export function checkPod(pod: Pod, config: Json, prevResult: Json): Promise<Answer> {
  return pod.check(config, prevResult, WITH_PEERS);
}

/** What pods of Debian's plugins leave on a node, without what there is once per node. */
export interface Remains {
  /** Names; the bridge and the uplink stay. */
  readonly links: readonly string[];
  /** Rules of iptables and ip6tables. */
  readonly rules: readonly string[];
  readonly queues: readonly string[];
  readonly store: readonly Json[];
  readonly addresses: readonly string[];
  readonly tuning: readonly string[];
}

/** What is there now. Not the routes: they go with the links, and those of a bridge blink. */
export async function remainsOf(node: Node): Promise<Remains> {
  const saved = await Promise.all(["iptables-save", "ip6tables-save"].map((one) => node.run(one)));
  const queues: Json[] = JSON.parse(await node.run("tc", "-json", "qdisc"));
  const links = (await node.ip("link")).map(({ ifname }): string => ifname);
  return {
    links: links.filter((name) => !["lo", "cni0", "uplink"].includes(name)).sort(),
    rules: saved.join("\n").split("\n").filter((line) => /^(-A|:CNI)/.test(line))
      .map((line) => line.replace(/ \[\d+:\d+\]$/, "")).sort(),
    queues: queues.map(({ kind, dev }) => `${kind} ${dev}`)
      .filter((text) => !/ (lo|cni0|uplink)$/.test(text)).sort(),
    store: readStore(node.dataDir),
    addresses: heldAddresses(node),
    tuning: namesIn(`${node.dataDir}/tuning`),
  };
}

function namesIn(directory: string): string[] {
  try {
    return [...Deno.readDirSync(directory)].map(({ name }) => name).sort();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** What is left of addresses that host-local gave out. */
export function heldAddresses(node: Node, network = "realnet"): string[] {
  return namesIn(`${hostLocalDir(node)}/${network}`)
    .filter((name) => /^[0-9a-f.:]+$/.test(name));
}
