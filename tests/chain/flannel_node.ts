/**
 * A node on which flannel's plugin has attached pods, made as that plugin makes it: it writes the
 * delegate's configuration to `<dataDir>/<container id>`, runs the delegate with it, and that runs
 * host-local. The last two are the real ones.
 */

import { assertEquals } from "@std/assert";
import { execute, type Json } from "../plugin/namespace.ts";
import { type Node, type Pod } from "../plugin/node.ts";
import { PEERS } from "../ipam/plugin.ts";
import { hostLocalDir } from "./real_node.ts";

/** The name of the network in flannel's manifest. */
export const NETWORK = "cbr0";

/** Where flannel's plugin keeps its files. */
export function flannelDir(node: Node): string {
  return `${node.dataDir}/flannel`;
}

/** Names of the containers flannel has saved something for. */
export function savedContainers(node: Node): string[] {
  return [...Deno.readDirSync(flannelDir(node))].map(({ name }) => name).sort();
}

/** flannel's own subnet file. */
export function writeFlannelSubnet(node: Node): string {
  const path = `${node.dataDir}/flannel.env`;
  const lines = [
    "FLANNEL_NETWORK=10.88.0.0/16",
    "FLANNEL_SUBNET=10.88.5.1/24",
    "FLANNEL_MTU=1450",
    "FLANNEL_IPMASQ=false",
  ];
  Deno.writeTextFileSync(path, lines.join("\n"));
  return path;
}

/** What flannel's plugin makes of `{"hairpinMode": true, "isDefaultGateway": true}` and the above. */
function delegateOf(node: Node): Json {
  return {
    cniVersion: "0.3.1",
    hairpinMode: true,
    ipMasq: true,
    ipam: {
      dataDir: hostLocalDir(node),
      ranges: [[{ subnet: "10.88.5.0/24" }]],
      routes: [{ dst: "10.88.0.0/16" }],
      type: "host-local",
    },
    isDefaultGateway: true,
    isGateway: true,
    mtu: 1450,
    name: NETWORK,
    type: "bridge",
  };
}

/** ADD by flannel's plugin: its result. */
export async function addByFlannel(node: Node, pod: Pod): Promise<Json> {
  const text = JSON.stringify(delegateOf(node));
  Deno.mkdirSync(flannelDir(node), { recursive: true, mode: 0o700 });
  Deno.writeTextFileSync(`${flannelDir(node)}/${pod.containerId}`, text, { mode: 0o600 });
  const { code, stdout, stderr } = await execute({
    command: node.inside(`${PEERS}/bridge`),
    stdin: text,
    env: {
      PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
      CNI_COMMAND: "ADD",
      CNI_CONTAINERID: pod.containerId,
      CNI_NETNS: pod.namespace.path,
      CNI_IFNAME: "eth0",
      CNI_PATH: PEERS,
    },
  });
  assertEquals(code, 0, stdout + stderr);
  return JSON.parse(stdout);
}
