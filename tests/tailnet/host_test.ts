/** Host mode: the machine's own tailscaled carries the pods' packets. */

import { assert } from "@std/assert";
import { startCluster } from "./cluster.ts";
import { checkConnectivity } from "./connectivity.ts";
import { Watch } from "./fault.ts";
import { checkHostFaults } from "./host_faults.ts";
import { type Before, checkLeaving, rememberBefore } from "./leaving.ts";
import { NEEDS } from "./needs.ts";
import type { TailnetNode } from "./tailnet_node.ts";

Deno.test({
  ...NEEDS,
  name: "host mode",
  async fn(t) {
    const before = new Map<TailnetNode, Before>();
    await using cluster = await startCluster({
      nodes: [1, 2, 3].map(() => ({ mode: "host" })),
      onJoined: async (node) => void before.set(node, await rememberBefore(node)),
    });
    await checkConnectivity(cluster, t);
    const [victim, other, third] = cluster.nodes;
    assert(victim !== undefined && other !== undefined && third !== undefined);
    await t.step("leaving brings back every setting and route", async () => {
      const first = before.get(third);
      assert(first !== undefined);
      await checkLeaving(third, first);
    });
    await using watch = new Watch(cluster, victim, other);
    await checkHostFaults(watch, t);
    assert(watch.local.lost === 0, `${watch.local.lost} packets between local pods were lost`);
  },
});
