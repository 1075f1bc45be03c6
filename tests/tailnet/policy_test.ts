/** A tailnet with a policy: what the cluster needs is added, and routes are approved by it. */

import { assert, assertEquals } from "@std/assert";
import { startCluster } from "./cluster.ts";
import { NEEDS } from "./needs.ts";
import { until } from "./until.ts";

const NODE = { mode: "daemon", base: true, tagged: true } as const;

Deno.test({
  ...NEEDS,
  name: "tagged nodes and a policy",
  async fn(t) {
    await using cluster = await startCluster({ nodes: [NODE, NODE], podsPerNode: 1 });
    const [first] = cluster.nodes;
    assert(first !== undefined);
    await t.step("the policy has what is needed, and pods reach each other", async () => {
      await cluster.assertAllReach();
      const policy = cluster.server.cli("policy", "get");
      for (const part of ["tag:k8s-node", "10.244.0.0/16", "fd44::/48", "autoApprovers"]) {
        assert(policy.includes(part), policy);
      }
      const nodes = JSON.parse(cluster.server.cli("nodes", "list", "-o", "json"));
      assertEquals(nodes.map(({ tags }: { tags: string[] }) => tags), [
        ["tag:k8s-node"],
        ["tag:k8s-node"],
      ]);
    });
    await t.step("a node with the first one's network is approved by it, and yields", async () => {
      const second = await cluster.addNode({ ...NODE, subnet: first.number });
      await cluster.start(second);
      await until("it tells of the conflict", async () => {
        const { conditions } = await second.status();
        return conditions.some(({ code }) => code === "PrefixConflict");
      }, { pollMs: 1000 });
      await until(
        "it leaves the network to the first",
        async () => (await second.api.prefs()).advertiseRoutes.length === 0,
      );
      await cluster.assertAllReach();
    });
  },
});
