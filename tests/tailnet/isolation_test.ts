/** Isolation: our tailscaled in a namespace of its own, beside the machine's. */

import { assert, assertEquals } from "@std/assert";
import { LocalApi } from "../../lib/tailscale/mod.ts";
import { execute } from "../plugin/namespace.ts";
import { type Cluster, INNER, POD_PORT, startCluster } from "./cluster.ts";
import { NEEDS } from "./needs.ts";
import type { TailnetNode } from "./tailnet_node.ts";
import { until } from "./until.ts";

/** `headcni tailnet run` where another tailscaled is: refused, with the two ways out. */
async function checkRefusal(cluster: Cluster): Promise<void> {
  const node = await cluster.addNode({ mode: "daemon" });
  try {
    node.startHostTailscaled();
    await until(
      "the machine's tailscaled answers",
      () => new LocalApi({ socketPath: node.hostSocket }).status().then(() => true, () => false),
    );
    const command = node.inside(...node.headcni("run"));
    const { code, stderr } = await execute({ command });
    assertEquals(code, 1);
    assert(stderr.includes("another one is in this network namespace"), stderr);
    assert(stderr.includes("tailscale.mode: host"), stderr);
    assert(stderr.includes("tailscale.isolation: netns"), stderr);
  } finally {
    await node.end("host-tailscaled");
    cluster.nodes.splice(cluster.nodes.indexOf(node), 1);
  }
}

/** The machine itself and its pods use two tailnets at once: here, two nodes of one. */
async function checkBoth(cluster: Cluster, isolated: TailnetNode): Promise<void> {
  const [, other] = cluster.nodes;
  assert(other !== undefined);
  const machine = new LocalApi({ socketPath: isolated.hostSocket });
  assertEquals((await machine.status()).state, "Running");
  const far = (await other.api.status()).addresses;
  using _listener = other.listen(POD_PORT);
  for (const address of far) {
    const seen = await until(
      `the machine reaches ${address} by its own tailscaled`,
      () => isolated.fetch(`${address}`, POD_PORT),
    );
    const own = (await machine.status()).addresses.find(({ family }) => family === address.family);
    assertEquals(seen, `${own}`);
  }
  const [pod] = isolated.pods;
  assert(pod !== undefined);
  const ours = (await isolated.api.status()).addresses;
  for (const address of far) {
    const seen = await until(
      `a pod reaches ${address} by ours`,
      () => pod.pod.namespace.fetch(`${address}`, POD_PORT),
    );
    assertEquals(seen, `${ours.find(({ family }) => family === address.family)}`);
  }
}

Deno.test({
  ...NEEDS,
  name: "isolation",
  async fn(t) {
    await using cluster = await startCluster({
      nodes: [
        { mode: "daemon", isolation: "netns", base: true, hostTailscaled: true },
        { mode: "daemon", base: true },
      ],
    });
    const [isolated] = cluster.nodes;
    assert(isolated !== undefined);
    await t.step("pods reach pods of other nodes, both ways, under their own address", async () => {
      await cluster.assertAllReach();
    });
    await t.step("the machine's tailscaled and ours are usable at once", async () => {
      await checkBoth(cluster, isolated);
    });
    await t.step("nothing crosses the underlay in clear", () => {
      assertEquals(cluster.sniffer.inClear(INNER), []);
    });
    await t.step("without isolation another tailscaled is refused", async () => {
      await checkRefusal(cluster);
    });
    await t.step("leaving takes cable, namespace and node away", async () => {
      const id = (await isolated.api.status()).self.id;
      await isolated.end("headcni");
      const { code, stdout, stderr } = await isolated.headcniOutput("leave");
      assertEquals(code, 0, stdout + stderr);
      const links = (await isolated.ip("link", "show")).map(({ ifname }) => ifname);
      assert(!links.includes("headcni-ts0"), links.join(", "));
      assert(links.includes("tailscale0"), "the machine's own is left alone");
      const nodes = JSON.parse(cluster.server.cli("nodes", "list", "-o", "json"));
      assert(!nodes.some((node: { id: number }) => `${node.id}` === id), "it is deleted");
    });
  },
});
