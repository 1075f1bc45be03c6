/** What a pod, or a neighbour of the node, must not be able to do. Each with its counter-proof. */

import { assert, assertEquals } from "@std/assert";
import { configOf } from "./config.ts";
import { eventually, type Json, type Namespace } from "./namespace.ts";
import { NEEDS } from "./needs.ts";
import { INTERNET, type Node, openNode } from "./node.ts";
import { advertiseRouter, askInNameOf } from "./raw_packets.ts";

/** Counts what arrives at `at` from `source`, whoever sent it. */
async function countFrom(at: Namespace, source: string): Promise<() => Promise<number>> {
  const family = source.includes(":") ? "ip6" : "ip";
  await at.run(
    "nft",
    `add table inet count; add chain inet count input { type filter hook input priority 0; };` +
      `add rule inet count input ${family} saddr ${source} counter`,
  );
  return async () => {
    const { nftables } = JSON.parse(await at.run("nft", "-j", "list", "table", "inet", "count"));
    const rule = nftables.find((item: Json) => item.rule)?.rule;
    return rule.expr.find((part: Json) => part.counter).counter.packets;
  };
}

for (const isChecked of [true, false]) {
  for (
    const { stack, foreign, target } of [
      { stack: "IPv4", foreign: "10.83.0.200", target: INTERNET.host4 },
      { stack: "IPv6", foreign: "fd83::200", target: INTERNET.host6 },
    ] as const
  ) {
    const verdict = isChecked ? "does not get out" : "gets out when antiSpoof is off";
    Deno.test({
      ...NEEDS,
      name: `${stack}: a packet with a foreign source ${verdict}`,
      async fn() {
        await using node = await openNode({ internet: true });
        const pod = await node.pod();
        const { ips } = await pod.add(configOf(stack, { antiSpoof: isChecked }));
        const own = ips[0].address.replace(/\/.*/, "");
        // Before the forged packet: one that waits for the gateway's answer would ask in its name.
        assert(await pod.namespace.reaches(target, own));
        const seen = await countFrom(node.internet(), foreign);
        await pod.namespace.configure(`address add ${foreign} dev eth0 nodad`);
        assertEquals(await pod.namespace.reaches(target, foreign), false);
        assertEquals(await seen() > 0, !isChecked);
        assert(await pod.namespace.reaches(target, own), "its own address still works");
      },
    });
  }
}

Deno.test({
  ...NEEDS,
  name: "a pod that takes its neighbour's address gets none of its traffic",
  async fn() {
    await using node = await openNode();
    const config = configOf("dual-stack");
    const [victim, thief] = [await node.pod(), await node.pod()];
    const { ips } = await victim.add(config);
    await thief.add(config);
    using _server = victim.namespace.listen(80);
    for (const { address, gateway } of ips) {
      await thief.namespace.configure(`address add ${address} dev eth0 nodad`);
      const stolen = address.replace(/\/.*/, "");
      assertEquals(await thief.namespace.reaches(gateway, stolen), false);
      assert(await node.fetch(stolen, 80), `the victim still answers on ${stolen}`);
    }
  },
});

for (const isChecked of [true, false]) {
  Deno.test({
    ...NEEDS,
    name: `an ARP request in a foreign name ${isChecked ? "teaches the node nothing" : "would"}`,
    async fn() {
      await using node = await openNode();
      const pod = await node.pod();
      const { ips } = await pod.add(configOf("IPv4", { antiSpoof: isChecked }));
      const [own] = ips[0].address.split("/");
      const ask = (sender: string) =>
        askInNameOf(pod.namespace, { device: "eth0", sender, target: "10.83.0.1" });
      const knows = async (address: string) => {
        const entries = await node.ip("neighbour", "show", address);
        return entries.some(({ lladdr }) => lladdr !== undefined);
      };
      await ask(own);
      assert(await eventually(() => knows(own)), "its own name is heard");
      // The kernel learns only whom it could answer, so there has to be a way.
      const [{ name }] = (await node.ip("link")).filter(({ ifname }) => ifname.startsWith("hcni"))
        .map(({ ifname }) => ({ name: ifname })) as [{ name: string }];
      await node.configure(`route add 10.83.0.99 dev ${name}`);
      await ask("10.83.0.99");
      assertEquals(await eventually(() => knows("10.83.0.99"), isChecked ? 3 : 50), !isChecked);
    },
  });
}

/** Whether an advertisement has left addresses or routes. */
async function isAdvertised(node: Node): Promise<boolean> {
  const routes = await node.ip("-6", "route");
  const addresses = await node.ip("-6", "address");
  return JSON.stringify([routes, addresses]).includes("2001:db8:bad") ||
    routes.some(({ dst, protocol }) => dst === "default" && protocol === "ra");
}

Deno.test({
  ...NEEDS,
  name: "a router advertisement from a pod changes nothing on the node (CVE-2020-10749)",
  async fn(test) {
    await using node = await openNode();
    // As a machine that gets its own network by advertisements, before and after the ADD.
    await node.run("sysctl", "-qw", "net.ipv6.conf.default.accept_ra=2");
    for (const stack of ["IPv4", "dual-stack"] as const) {
      await test.step(`from a pod with ${stack}`, async () => {
        const pod = await node.pod();
        await pod.add(configOf(stack));
        await node.run("sysctl", "-qw", "net.ipv6.conf.all.accept_ra=2");
        assert(await eventually(() => linkLocal(pod.namespace)), "no link-local address");
        await advertiseRouter(pod.namespace, "eth0");
        assertEquals(await eventually(() => isAdvertised(node), 5), false);
        await pod.del(configOf(stack));
      });
    }
    await test.step("the same advertisement over another link does", async () => {
      const router = node.namespace();
      await node.configure(`link add ra0 type veth peer name eth0 netns ${router.name}`);
      for (const namespace of [node, router]) {
        const device = namespace === node ? "ra0" : "eth0";
        await namespace.run("sysctl", "-qw", `net.ipv6.conf.${device}.accept_dad=0`);
        await namespace.configure(`link set ${device} up`);
      }
      assert(await eventually(() => linkLocal(router)), "no link-local address");
      await advertiseRouter(router, "eth0");
      assert(await eventually(() => isAdvertised(node)));
    });
  },
});

async function linkLocal(namespace: Namespace): Promise<boolean> {
  const links = await namespace.ip("-6", "address", "show", "dev", "eth0", "-tentative");
  return links.some(({ addr_info = [] }) => addr_info.length > 0);
}

const WITH_PORTS = configOf("dual-stack", {
  runtimeConfig: {
    portMappings: [
      { hostPort: 8080, containerPort: 80 },
      { hostPort: 8081, containerPort: 80, hostIP: "127.0.0.1" },
    ],
  },
});

/** Makes 127.0.0.0/8 lead to `gateway`, as nobody should. */
async function aimLoopbackAt(namespace: Namespace, gateway: string): Promise<void> {
  await namespace.run("sysctl", "-qw", "net.ipv4.conf.eth0.route_localnet=1");
  await namespace.configure(
    "address delete 127.0.0.1/8 dev lo",
    `route add 127.0.0.0/8 via ${gateway} dev eth0 onlink`,
  );
}

Deno.test({
  ...NEEDS,
  name: "a host port answers on addresses of the node only (CVE-2025-67499)",
  async fn() {
    await using node = await openNode({ internet: true });
    const pod = await node.pod();
    await pod.add(WITH_PORTS);
    using _server = pod.namespace.listen(80);
    const internet = node.internet();
    const { node4, node6 } = INTERNET;
    assert(await internet.fetch(node4, 8080), "the port is open");
    // Through the node to somebody else: transit is nobody's host port.
    const lan = node.namespace("lan");
    await node.configure(
      `link add lan0 type veth peer name eth0 netns ${lan.name}`,
      "link set lan0 addrgenmode none",
      "link set lan0 up",
      "address add fe80::c/64 dev lan0 nodad",
      "address add 203.0.113.1/24 dev lan0",
      "address add 2001:db8:113::1/64 dev lan0 nodad",
    );
    await lan.configure(
      "link set eth0 addrgenmode none",
      "link set eth0 up",
      "address add fe80::d/64 dev eth0 nodad",
      "address add 203.0.113.9/24 dev eth0",
      "address add 2001:db8:113::9/64 dev eth0 nodad",
      "route add default via 203.0.113.1",
      "route add default via 2001:db8:113::1",
    );
    await internet.configure(
      `route add 203.0.113.0/24 via ${node4}`,
      `route add 2001:db8:113::/64 via ${node6}`,
    );
    for (const address of ["203.0.113.9", "2001:db8:113::9"]) {
      assert(await internet.reaches(address), "the node forwards");
      assertEquals(await internet.fetch(address, 8080), undefined);
      assertEquals(await node.fetch(address, 8080), undefined);
    }
    assert(await internet.fetch("203.0.113.1", 8080), "another address of the node");
  },
});

Deno.test({
  ...NEEDS,
  name: "a host port bound to 127.0.0.1 is not for neighbours (CVE-2020-8558)",
  async fn() {
    await using node = await openNode({ internet: true });
    const pod = await node.pod();
    await pod.add(WITH_PORTS);
    using _server = pod.namespace.listen(80);
    assert(await node.fetch("127.0.0.1", 8081), "the port is open");
    const internet = node.internet();
    await aimLoopbackAt(internet, INTERNET.node4);
    assertEquals(await internet.fetch("127.0.0.1", 8081), undefined);
    assertEquals(await internet.fetch("127.0.0.1", 8080), undefined);
  },
});

Deno.test({
  ...NEEDS,
  name: "a pod does not reach what listens on the node's 127.0.0.1 (CVE-2020-8558)",
  async fn() {
    await using node = await openNode();
    const pod = await node.pod();
    await pod.add(WITH_PORTS);
    using _server = node.listen(9470);
    assert(await node.fetch("127.0.0.1", 9470), "it listens");
    await aimLoopbackAt(pod.namespace, "10.83.0.1");
    assertEquals(await pod.namespace.fetch("127.0.0.1", 9470), undefined);
    // The counter-proof: it is the packet filter that stands in between.
    await node.run("nft", "flush", "chain", "inet", "headcni", "check_pod");
    assert(await pod.namespace.fetch("127.0.0.1", 9470));
  },
});
