/** Two nodes with the same pod network: told on both, and the first is not harmed. */

import { assert, assertEquals } from "@std/assert";
import { startCluster } from "./cluster.ts";
import { NEEDS } from "./needs.ts";
import type { TailnetNode } from "./tailnet_node.ts";
import { report, until } from "./until.ts";

async function hasConflict(node: TailnetNode): Promise<boolean> {
  const { conditions } = await node.status();
  return conditions.some(({ code }) => code === "PrefixConflict");
}

Deno.test({
  ...NEEDS,
  name: "two nodes with the same pod network",
  async fn() {
    await using cluster = await startCluster({
      nodes: [{ mode: "daemon", base: true }, { mode: "daemon", base: true }],
      podsPerNode: 1,
    });
    const [first] = cluster.nodes;
    assert(first !== undefined);
    const start = Date.now();
    const second = await cluster.addNode({ mode: "daemon", base: true, subnet: first.number });
    await cluster.start(second);
    const options = { pollMs: 1000 };
    await Promise.all([
      until("the second tells of it", () => hasConflict(second), options),
      until("the first tells of it", () => hasConflict(first), options),
    ]);
    report(`same pod network: told on both after ${Date.now() - start} ms`);
    await until(
      "both log it",
      () => [first, second].every((node) => node.log("headcni").includes("code=PrefixConflict")),
    );
    await cluster.assertAllReach();
    const [, witness] = cluster.nodes;
    const { peers } = await witness?.status() ?? { peers: [] };
    const routers = peers.filter(({ routes }) => routes.includes(first.cidr4));
    assertEquals(routers.map(({ name }) => name), ["n1"], "the others are told of the first");
    assertEquals((await second.status()).node?.routes, []);

    await second.end("headcni");
    const { code, stdout, stderr } = await second.headcniOutput("leave");
    assertEquals(code, 0, stdout + stderr);
    await until("it is over", async () => !await hasConflict(first), options);
    const nodes = JSON.parse(cluster.server.cli("nodes", "list", "-o", "json"));
    assertEquals(nodes.length, 2, "the second is gone from Headscale");
  },
});
