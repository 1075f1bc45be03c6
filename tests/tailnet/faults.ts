/** Everything that may break, one after the other, on a tailnet that works. */

import { assert, assertEquals } from "@std/assert";
import { parsePrefix } from "../../lib/ip/mod.ts";
import { execute } from "../plugin/namespace.ts";
import type { Cluster } from "./cluster.ts";
import { INNER } from "./cluster.ts";
import { Watch } from "./fault.ts";
import type { TailnetNode } from "./tailnet_node.ts";
import { report, until } from "./until.ts";

/** Somebody else's network behind the victim. */
const FOREIGN = "192.168.77.0/24";
/** A Headscale that is away for a moment is no test. */
const OUTAGE_MS = 60_000;

/** Process of the node's own tailscaled. */
function tailscaledPid(node: TailnetNode): number {
  return JSON.parse(Deno.readTextFileSync(`${node.directory}/run/tailscaled.json`)).pid;
}

/** Its number in Headscale. */
export async function nodeId(node: TailnetNode): Promise<string> {
  const { self: own } = await node.api.status({ peers: false });
  return own.id;
}

const isRunning = async (node: TailnetNode) =>
  (await node.api.status({ peers: false }).catch(() => undefined))?.state === "Running";

/** All faults of daemon mode. */
export async function checkFaults(cluster: Cluster, t: Deno.TestContext): Promise<void> {
  const [victim, other] = cluster.nodes;
  assert(victim !== undefined && other !== undefined);
  await using watch = new Watch(cluster, victim, other);
  const step = async (name: string, fn: () => Promise<void>) => {
    assert(await t.step(name, fn), name);
  };
  await step(
    "somebody else's routes stay, and ours come back after a revoked approval",
    () => checkForeignRoutes(watch),
  );
  await step("tailscaled is killed", () =>
    watch.recoversFrom(
      "tailscaled killed",
      () => Deno.kill(tailscaledPid(victim), "SIGKILL"),
      { healed: () => isRunning(victim) },
    ));
  await step("somebody says tailscale down", () =>
    watch.recoversFrom(
      "tailscale down",
      () => victim.api.editPrefs({ wantRunning: false }),
      { healed: async () => (await victim.api.prefs()).wantRunning && await isRunning(victim) },
    ));
  await step("the interface is deleted", () =>
    watch.recoversFrom(
      "interface deleted",
      () => victim.run("ip", "link", "delete", victim.tun),
      { healed: () => hasTunnel(victim) },
    ));
  await step("rules and routes are flushed", () => checkFlushedRules(watch));
  await step("the node's key expires", async () => {
    const id = await nodeId(victim);
    await watch.recoversFrom(
      "node key expired",
      () => cluster.server.cli("nodes", "expire", "--identifier", id),
      {
        noticed: async () => !await isRunning(victim),
        healed: () => isRunning(victim),
      },
    );
  });
  await step("the node is deleted in Headscale", async () => {
    const before = await nodeId(victim);
    await watch.recoversFrom(
      "node deleted",
      () => cluster.server.cli("nodes", "delete", "--identifier", before, "--force"),
      {
        healed: async () => {
          const { self: own, state } = await victim.api.status({ peers: false });
          return state === "Running" && own.id !== before && own.id !== "";
        },
      },
    );
  });
  await step("Headscale is away for a minute", () => checkOwnOutage(watch));
  await step("without the tunnel nothing leaves in clear", () => checkFailsClosed(watch));
  await step("local pods never noticed", () => {
    assert(watch.local.answered > 100, "the local ping ran");
    // One may fall into the moment between an empty packet filter and the rules of the pods.
    assert(watch.local.lost <= 1, `${watch.local.lost} packets between local pods were lost`);
    return Promise.resolve();
  });
}

/** Whether its tunnel is there. */
export async function hasTunnel(node: TailnetNode): Promise<boolean> {
  const links = await node.ip("link", "show");
  return links.some(({ ifname }) => ifname === node.tun);
}

/** Somebody replaces the approved routes by their own. */
export async function checkForeignRoutes(watch: Watch): Promise<void> {
  const { victim, cluster: { server } } = watch;
  const { advertiseRoutes } = await victim.api.prefs();
  await victim.api.editPrefs({ advertiseRoutes: [...advertiseRoutes, parsePrefix(FOREIGN)] });
  const id = await nodeId(victim);
  const routes = () => {
    const [node] = JSON.parse(server.cli("nodes", "list-routes", "-i", id, "-o", "json"));
    return {
      approved: (node.approved_routes ?? []).toSorted(),
      available: (node.available_routes ?? []).toSorted(),
    };
  };
  const all = [victim.cidr4, victim.cidr6, FOREIGN].toSorted();
  await watch.recoversFrom(
    "approval revoked",
    () => server.cli("nodes", "approve-routes", "-i", id, "-r", FOREIGN),
    { healed: () => Promise.resolve(routes().approved.length === all.length) },
  );
  const available = [...new Set([...advertiseRoutes.map(String), FOREIGN])].toSorted();
  assertEquals(routes(), { approved: all, available });
}

/** Somebody flushes what is ours. */
export async function checkFlushedRules(watch: Watch): Promise<void> {
  const { victim } = watch;
  const guards = async () => {
    const rules = [...await victim.ip("rule", "show"), ...await victim.ip("-6", "rule", "show")];
    return rules.filter(({ priority }) => priority === 5105).length;
  };
  const unreachable = async () =>
    (await victim.ip("route", "show", "type", "unreachable")).length +
    (await victim.ip("-6", "route", "show", "type", "unreachable")).length;
  const before = [await guards(), await unreachable()];
  assertEquals(before[0], 2);
  await watch.recoversFrom("rules flushed", async () => {
    for (const family of ["-4", "-6"]) {
      await victim.run("ip", family, "rule", "flush", "pref", "5105");
      await victim.run("ip", family, "route", "flush", "type", "unreachable", "proto", "104");
    }
  }, {
    healed: async () => await guards() === before[0] && await unreachable() === before[1],
  });
}

/** A minute, in which other things happen, too; our own tailscaled runs through it. */
async function checkOwnOutage(watch: Watch): Promise<void> {
  const { victim, cluster } = watch;
  const pid = tailscaledPid(victim);
  await checkOutage(watch, async () => {
    await checkFlushedFilter(victim);
    await cluster.addPods(victim, 1);
  });
  assertEquals(tailscaledPid(victim), pid, "tailscaled runs on");
}

/** Headscale is away for a minute: it is told, pods talk on, and it heals by itself. */
export async function checkOutage(
  watch: Watch,
  meanwhile: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const { victim, other, cluster, local, remote } = watch;
  const start = Date.now();
  await cluster.server.stop();
  try {
    await until("the outage is told", async () => {
      const { conditions } = await victim.status();
      return conditions.some(({ code }) => code === "HeadscaleAway");
    });
    const { working } = await victim.status();
    assert(working, "the node works on");
    await meanwhile();
    await until("a minute has passed", () => Date.now() - start >= OUTAGE_MS);
    await cluster.assertAllReach([...victim.pods, ...other.pods]);
    const gap = remote.longestGapMs(start);
    report(`Headscale away for ${Date.now() - start} ms: without answers for ${gap} ms`);
    assert(gap < 5000, "pods of two nodes talk on");
    assert(local.lost <= 1, "local pods talk on");
  } finally {
    await cluster.server.start();
  }
  await watch.recoversFrom("Headscale restarted", () => {}, {
    healed: async () => (await victim.status()).conditions.length === 0,
  });
}

/** Nobody tells of it, so that it is found at the next half minute. */
async function checkFlushedFilter(victim: TailnetNode): Promise<void> {
  const [pod] = victim.pods;
  const start = Date.now();
  await victim.run("nft", "flush", "ruleset");
  await until("the packet filter is back, with its pods", async () => {
    const { code, stdout } = await execute({
      command: victim.inside("nft", "list", "set", "inet", "headcni", "source4"),
    });
    return code === 0 && stdout.includes(pod?.address4 ?? "nothing");
  });
  report(`packet filter flushed: recovered after ${Date.now() - start} ms`);
}

/** Nothing runs that could repair anything. */
async function checkFailsClosed(watch: Watch): Promise<void> {
  const { victim, cluster } = watch;
  const [near, far] = watch.pair;
  const pid = tailscaledPid(victim);
  await victim.end("headcni");
  Deno.kill(pid, "SIGTERM");
  await until("the tunnel is gone", async () => !await hasTunnel(victim));
  for (const address of [far.address4, far.address6]) {
    const command = near.pod.namespace.inside("ping", "-n", "-c1", "-W2", address);
    const { code, stdout } = await execute({ command });
    assert(code !== 0 && /[Uu]nreachable/.test(stdout), `${address}: ${stdout}`);
  }
  assertEquals(cluster.sniffer.inClear(INNER), []);
  await watch.recoversFrom("everything stopped and started", () => victim.startHeadcni());
}
