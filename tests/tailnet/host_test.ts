/** Host mode: the machine's own tailscaled carries the pods' packets. */

import { assert } from "@std/assert";
import { startCluster } from "./cluster.ts";
import { checkConnectivity } from "./connectivity.ts";
import { Watch } from "./fault.ts";
import { type Before, checkLeaving, rememberBefore } from "./leaving.ts";
import { NEEDS } from "./needs.ts";
import type { TailnetNode } from "./tailnet_node.ts";

async function hasCondition(node: TailnetNode, code: string): Promise<boolean> {
  return (await node.status()).conditions.some((condition) => condition.code === code);
}

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
    const [victim, other] = cluster.nodes;
    assert(victim !== undefined && other !== undefined);
    await using watch = new Watch(cluster, victim, other);
    await t.step("somebody says tailscale down: it is told, and left to them", async () => {
      await watch.recoversFrom("tailscale down, then up", async () => {
        await victim.tailscale("down");
      }, {
        noticed: () => hasCondition(victim, "Stopped"),
        healed: async () => {
          await victim.api.editPrefs({ wantRunning: true });
          return true;
        },
      });
    });
    await t.step("tailscaled is killed, and started by systemd", async () => {
      await watch.recoversFrom("tailscaled killed", async () => {
        await victim.end("host-tailscaled", "SIGKILL");
        victim.startHostTailscaled();
      });
    });
    await t.step("leaving brings back every setting and route", async () => {
      const first = before.get(victim);
      assert(first !== undefined);
      await checkLeaving(victim, first);
    });
    assert(watch.local.lost === 0, `${watch.local.lost} packets between local pods were lost`);
  },
});
