/** Faults of host mode: the machine's tailscaled is its administrator's, who is told and acts. */

import { assert } from "@std/assert";
import type { Watch } from "./fault.ts";
import { checkFlushedRules, checkForeignRoutes, checkOutage, hasTunnel, nodeId } from "./faults.ts";
import type { TailnetNode } from "./tailnet_node.ts";

async function hasCondition(node: TailnetNode, code: string): Promise<boolean> {
  return (await node.status()).conditions.some((condition) => condition.code === code);
}

/** All of them. */
export async function checkHostFaults(watch: Watch, t: Deno.TestContext): Promise<void> {
  const { victim, cluster: { server } } = watch;
  const step = async (name: string, fn: () => Promise<void>) => {
    assert(await t.step(name, fn), name);
  };
  await step(
    "somebody else's routes stay, and ours come back after a revoked approval",
    () => checkForeignRoutes(watch),
  );
  await step("rules and routes are flushed", () => checkFlushedRules(watch));
  await step("Headscale is away for a minute", () => checkOutage(watch));
  await step(
    "somebody says tailscale down: it is told, and left to them",
    () =>
      watch.recoversFrom("tailscale down, then up", () => victim.tailscale("down"), {
        noticed: () => hasCondition(victim, "Stopped"),
        healed: async () => (await victim.api.editPrefs({ wantRunning: true })).wantRunning,
      }),
  );
  await step(
    "tailscaled is killed, and started by systemd",
    () =>
      watch.recoversFrom("tailscaled killed", async () => {
        await victim.end("host-tailscaled", "SIGKILL");
        victim.startHostTailscaled();
      }),
  );
  await step(
    "the interface is deleted: tailscaled ends, and is started by systemd",
    () =>
      watch.recoversFrom("interface deleted", async () => {
        await victim.run("ip", "link", "delete", victim.tun);
        await victim.end("host-tailscaled");
        victim.startHostTailscaled();
      }, { healed: () => hasTunnel(victim) }),
  );
  await step("the node's key expires: it is told, and somebody logs in", async () => {
    const id = await nodeId(victim);
    await watch.recoversFrom(
      "node key expired",
      () => server.cli("nodes", "expire", "--identifier", id),
      { noticed: () => hasCondition(victim, "LoggedOut"), healed: () => logsIn(victim) },
    );
  });
  await step("the node is deleted in Headscale: it is told, and somebody logs in", async () => {
    const id = await nodeId(victim);
    await watch.recoversFrom(
      "node deleted",
      () => server.cli("nodes", "delete", "--identifier", id, "--force"),
      { noticed: () => hasCondition(victim, "UnknownNode"), healed: () => logsIn(victim) },
    );
  });
}

/** With all settings as they are, which `tailscale up` wants repeated. */
async function logsIn(node: TailnetNode): Promise<boolean> {
  const { advertiseRoutes } = await node.api.prefs();
  await node.login(
    "--force-reauth",
    "--accept-routes",
    "--snat-subnet-routes=false",
    `--advertise-routes=${advertiseRoutes.join(",")}`,
  );
  return true;
}
