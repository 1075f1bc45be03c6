/** A node whose uplink learns its network from router advertisements keeps it. */

import { assert, assertEquals } from "@std/assert";
import { configOf } from "./config.ts";
import { eventually, type Namespace } from "./namespace.ts";
import { NEEDS } from "./needs.ts";
import { type Node, openNode } from "./node.ts";
import { advertiseRouter } from "./raw_packets.ts";

/** A router on a link `name` of the node. */
async function connectRouter(node: Node, name: string): Promise<Namespace> {
  const router = node.namespace("router");
  await node.configure(`link add ${name} type veth peer name eth0 netns ${router.name}`);
  // No waiting for duplicates. A new namespace may have the settings of the machine's.
  const settings = { accept_dad: 0, accept_ra: 1, forwarding: 0, autoconf: 1, disable_ipv6: 0 };
  for (const [namespace, device] of [[node, name], [router, "eth0"]] as const) {
    for (const [setting, value] of Object.entries(settings)) {
      await namespace.run("sysctl", "-qw", `net.ipv6.conf.${device}.${setting}=${value}`);
    }
    await namespace.configure(`link set ${device} up`);
  }
  const hasAddress = async () =>
    (await router.ip("-6", "address", "show", "dev", "eth0")).length > 0;
  assert(await eventually(hasAddress), "the router has no link-local address");
  return router;
}

function hasDefaultRoute(node: Node, name: string): Promise<boolean> {
  return node.ip("-6", "route", "show", "default", "dev", name).then(({ length }) => length > 0);
}

async function acceptRa(node: Node, name: string): Promise<string> {
  return (await node.run("sysctl", "-n", `net.ipv6.conf.${name}.accept_ra`)).trim();
}

Deno.test({
  ...NEEDS,
  name: "the first IPv6 pod leaves the node its default route, and it learns the next one",
  async fn() {
    await using node = await openNode();
    await node.run("sysctl", "-qw", "net.ipv6.conf.all.forwarding=0");
    const router = await connectRouter(node, "up0");
    await connectRouter(node, "idle0"); // nothing was ever learned there
    await advertiseRouter(router, "eth0");
    assert(await eventually(() => hasDefaultRoute(node, "up0")), "nothing was learned");
    const pod = await node.pod();
    await pod.add(configOf("dual-stack"));
    assertEquals((await node.run("sysctl", "-n", "net.ipv6.conf.all.forwarding")).trim(), "1");
    assertEquals([await acceptRa(node, "up0"), await acceptRa(node, "idle0")], ["2", "1"]);
    assert(await hasDefaultRoute(node, "up0"), "the default route is gone");
    await node.run("ip", "-6", "route", "flush", "default", "dev", "up0");
    await advertiseRouter(router, "eth0");
    assert(await eventually(() => hasDefaultRoute(node, "up0")), "nothing is learned any more");
  },
});

Deno.test({
  ...NEEDS,
  name: "an IPv4 pod changes nothing about IPv6 uplinks, nor does an uplink that must not learn",
  async fn() {
    await using node = await openNode();
    await node.run("sysctl", "-qw", "net.ipv6.conf.all.forwarding=0");
    const router = await connectRouter(node, "up0");
    await advertiseRouter(router, "eth0");
    assert(await eventually(() => hasDefaultRoute(node, "up0")), "nothing was learned");
    const [one, two] = [await node.pod(), await node.pod()];
    await one.add(configOf("IPv4"));
    assertEquals(await acceptRa(node, "up0"), "1");
    await node.run("sysctl", "-qw", "net.ipv6.conf.up0.accept_ra=0");
    await two.add(configOf("IPv6"));
    assertEquals(await acceptRa(node, "up0"), "0");
  },
});
