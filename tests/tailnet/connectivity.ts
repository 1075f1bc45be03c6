/** What has to work in either mode, as steps of a test. */

import { assert, assertEquals } from "@std/assert";
import { LocalApi } from "../../lib/tailscale/mod.ts";
import { type Cluster, INNER, POD_PORT, SECRET_TEXT } from "./cluster.ts";
import { execute } from "../plugin/namespace.ts";
import type { TailnetNode } from "./tailnet_node.ts";
import { forAll, report, until } from "./until.ts";

/** All of it. */
export async function checkConnectivity(cluster: Cluster, t: Deno.TestContext): Promise<void> {
  await t.step("every pod pings and calls every pod, and each sees who calls", async () => {
    await cluster.assertAllReach();
    const [first, second] = cluster.nodes;
    assert(first !== undefined && second !== undefined);
    await whisper(first, second.pods[0]?.address4 ?? "");
  });
  await t.step("the paths are direct", async () => {
    await forAll(cluster.nodes, async (node) => {
      await until(`node ${node.number} talks to all directly`, async () => {
        const { peers } = await node.status();
        return peers.filter(({ routes }) => routes.length > 0)
          .every(({ path }) => path?.startsWith("10.99.0.") || path?.startsWith("[fd99:"));
      });
    });
  });
  await t.step("a device that accepts no routes is reached, and answers the node", async () => {
    await checkDevice(cluster);
  });
  await t.step("pods find their MTU at the tunnel, large packets pass", async () => {
    await checkSizes(cluster);
  });
  await t.step("without direct paths all goes by the relay", async () => {
    await checkRelayed(cluster);
  });
  await t.step("nothing of it crosses the underlay in clear", async () => {
    assertEquals(cluster.sniffer.inClear(INNER), []);
    // The tap works: what leaves by the default route is seen.
    await cluster.nodes[0]?.reaches("10.245.0.1");
    await until("the tap sees a packet", () => cluster.sniffer.inClear(["10.245."]).length > 0);
  });
}

/** Somebody's laptop: in the tailnet, without pods, and without accepting routes. */
async function checkDevice(cluster: Cluster): Promise<void> {
  const device = await cluster.addNode({ mode: "host" });
  try {
    device.startHostTailscaled();
    await device.login();
    using _listener = device.listen(POD_PORT);
    const { addresses } = await new LocalApi({ socketPath: device.hostSocket }).status();
    await forAll(cluster.pods, async ({ pod }) => {
      const { addresses: own } = await (pod.node as TailnetNode).api.status();
      for (const address of addresses) {
        const seen = await until(
          `a pod reaches the device ${address}`,
          () => pod.namespace.fetch(`${address}`, POD_PORT),
        );
        const expected = own.find(({ family }) => family === address.family);
        assertEquals(seen, `${expected}`, "the device sees the node's tailnet address");
      }
    });
  } finally {
    await device.end("host-tailscaled");
    cluster.nodes.splice(cluster.nodes.indexOf(device), 1);
  }
}

async function checkSizes(cluster: Cluster): Promise<void> {
  const { nodes } = cluster;
  for (const node of nodes) {
    const { tunnel } = await node.status();
    for (const { pod } of node.pods) {
      const [link] = await pod.namespace.ip("link", "show", "eth0");
      assertEquals(link?.mtu, tunnel.mtu, "a pod's MTU is the tunnel's");
    }
  }
  const [from, to] = [nodes[0]?.pods[0], nodes[1]?.pods[0]];
  assert(from !== undefined && to !== undefined);
  // 1280 less IPv4 and ICMP headers; 1280 less IPv6's.
  const sizes = [["1252", to.address4], ["1232", to.address6]] as const;
  for (const [size, address] of sizes) {
    const ping = ["ping", "-n", "-q", "-c1", "-W5", "-M", "do", "-s", size, address];
    const { code, stdout } = await execute({ command: from.pod.namespace.inside(...ping) });
    assertEquals(code, 0, `${size} bytes to ${address}: ${stdout}`);
  }
}

/** Nodes no longer reach each other, only the server: as behind strict firewalls. */
async function checkRelayed(cluster: Cluster): Promise<void> {
  const { server } = cluster;
  const rules = "table bridge hcnt { chain c { type filter hook forward priority 0; " +
    "ether type { ip, ip6 } drop; }; }";
  server.sandbox.run("nft", rules);
  try {
    const started = Date.now();
    await cluster.assertAllReach();
    report(`by the relay after ${Date.now() - started} ms`);
    for (const node of cluster.nodes) {
      await until(`node ${node.number} uses the relay`, async () => {
        const { peers } = await node.status();
        return peers.filter(({ routes }) => routes.length > 0)
          .every(({ path }) => path === null || path.startsWith("relay"));
      });
    }
  } finally {
    server.sandbox.run("nft", "delete", "table", "bridge", "hcnt");
  }
}

/** A call whose text would be found in clear. */
async function whisper(from: TailnetNode, to: string): Promise<void> {
  const [pod] = from.pods;
  assert(pod !== undefined);
  const script = `exec 3<>/dev/tcp/${to}/${POD_PORT} && echo ${SECRET_TEXT} >&3 && cat <&3`;
  const command = pod.pod.namespace.inside("timeout", "5", "bash", "-c", script);
  await until("a call with a secret text", async () => (await execute({ command })).code === 0);
}
