/** More than one interface in a pod, and more than one plugin in a chain. */

import { assert, assertEquals } from "@std/assert";
import { configOf, ipam, STACKS, SUBNET4 } from "./config.ts";
import { type Json } from "./namespace.ts";
import { NEEDS } from "./needs.ts";
import { openNode } from "./node.ts";
import { assertSameNode } from "./snapshot.ts";

for (const stack of STACKS) {
  Deno.test({
    ...NEEDS,
    name: `${stack}: two interfaces of one pod in one subnet are both reachable`,
    async fn() {
      await using node = await openNode();
      const config = configOf(stack);
      const before = await node.warmUp(config);
      const [pod, other] = [await node.pod(), await node.pod()];
      const fresh = await pod.namespace.ip("rule");
      const results = [await pod.add(config), await pod.add(config, { ifname: "net1" })];
      await other.add(config);
      for (const { ips } of results) {
        for (const { address } of ips) {
          const [host] = address.split("/");
          assert(await other.namespace.reaches(host), `pod → ${host}`);
          assert(await node.reaches(host), `node → ${host}`);
        }
      }
      for (const ifname of ["net1", "eth0"]) await pod.del(config, { ifname });
      await other.del(config);
      assertSameNode(await node.snapshot(), before);
      assertEquals(await pod.namespace.ip("rule"), fresh);
    },
  });
}

Deno.test({
  ...NEEDS,
  name: "the second interface works on when the first one is deleted",
  async fn() {
    await using node = await openNode();
    const config = configOf("dual-stack");
    const [pod, other] = [await node.pod(), await node.pod()];
    await pod.add(config);
    const { ips } = await pod.add(config, { ifname: "net1" });
    await other.add(config);
    await pod.del(config);
    for (const { address } of ips) {
      const [host] = address.split("/");
      assert(await other.namespace.reaches(host), `pod → ${host}`);
    }
  },
});

Deno.test({
  ...NEEDS,
  name: "one pod in two networks holds an address of each",
  async fn() {
    await using node = await openNode();
    const [first, second] = [
      configOf("IPv4"),
      configOf("IPv4", { name: "other", ipam: ipam(["10.85.0.0/24"]) }),
    ];
    const [pod, peer] = [await node.pod(), await node.pod()];
    const results = [await pod.add(first), await pod.add(second, { ifname: "net1" })];
    await peer.add(first);
    assertEquals(results.map(({ ips }) => ips[0].gateway), ["10.83.0.1", "10.85.0.1"]);
    for (const { ips } of results) {
      assert(await peer.namespace.reaches(ips[0].address.slice(0, -3)));
    }
    await pod.del(second, { ifname: "net1" });
    assert(await peer.namespace.reaches(results[0]?.ips[0].address.slice(0, -3)));
  },
});

const FOREIGN: Json = {
  cniVersion: "1.1.0",
  interfaces: [{ name: "br7", mac: "0a:58:0a:00:00:01" }, {
    name: "eth0",
    mac: "0a:58:0a:00:00:02",
    sandbox: "/run/netns/somewhere",
    mtu: 1450,
  }],
  ips: [{ address: "192.0.2.5/24", gateway: "192.0.2.1", interface: 1 }],
  routes: [{ dst: "0.0.0.0/0", gw: "192.0.2.1", priority: 7 }],
  dns: { nameservers: ["192.0.2.53"], options: ["ndots:2"] },
};

Deno.test({
  ...NEEDS,
  name: "with nothing of ours configured a previous result passes through unchanged",
  async fn() {
    await using node = await openNode();
    const pod = await node.pod();
    const chained = { cniVersion: "1.1.0", name: "testnet", type: "headcni", prevResult: FOREIGN };
    const before = await node.snapshot();
    assertEquals(await pod.add(chained), FOREIGN);
    await node.succeed("CHECK", pod.about(chained));
    await pod.del(chained);
    assertSameNode(await node.snapshot(), before);
    assertEquals((await pod.namespace.ip("link")).length, 1);
  },
});

Deno.test({
  ...NEEDS,
  name: "a previous result is kept in front of our own, and indexes move along",
  async fn() {
    await using node = await openNode();
    const pod = await node.pod();
    const config = configOf("IPv4", { prevResult: FOREIGN });
    const { interfaces, ips, routes, dns } = await pod.add(config, { ifname: "net1" });
    assertEquals(interfaces.slice(0, 2), FOREIGN.interfaces);
    assertEquals(interfaces[3].name, "net1");
    assertEquals(ips[0], FOREIGN.ips[0]);
    assertEquals(ips[1].interface, 3);
    assertEquals(routes, [...FOREIGN.routes, { dst: "0.0.0.0/0" }]);
    assertEquals(dns, FOREIGN.dns);
  },
});

Deno.test({
  ...NEEDS,
  name: "CHECK accepts the merged result of a chain and looks at its own part only",
  async fn() {
    await using node = await openNode();
    const pod = await node.pod();
    const prevResult = { ...FOREIGN, routes: [] };
    const config = configOf("IPv4");
    const result = await pod.add({ ...config, prevResult }, { ifname: "net1" });
    const { code, stdout } = await pod.check(config, result, { ifname: "net1" });
    assertEquals(code, 0, stdout);
  },
});

Deno.test({
  ...NEEDS,
  name: "routes are made with every attribute they are given",
  async fn() {
    await using node = await openNode();
    const pod = await node.pod();
    const routes = [
      { dst: "0.0.0.0/0" },
      { dst: "198.18.0.0/16", priority: 40, mtu: 1200, advmss: 1100 },
      { dst: "198.19.0.0/16", table: 77 },
      { dst: "203.0.113.7/24", gw: "10.83.0.254" },
      { dst: "192.0.2.0/24", scope: 253 },
    ];
    const config = configOf("IPv4", { ipam: ipam([SUBNET4], { routes }) });
    const result = await pod.add(config);
    assertEquals(result.routes, routes);
    const made = async (...selector: string[]) => {
      const [route] = await pod.namespace.ip("-details", "route", "show", ...selector);
      const { gateway, metric, metrics, scope } = route ?? {};
      return { gateway, metric, metrics, scope };
    };
    const plain = { gateway: "10.83.0.1", metric: undefined, metrics: undefined, scope: "global" };
    assertEquals(await made("default"), plain);
    assertEquals(await made("198.18.0.0/16"), {
      ...plain,
      metric: 40,
      metrics: [{ mtu: 1200, advmss: 1100 }],
    });
    assertEquals(await made("table", "77"), plain);
    assertEquals(await made("203.0.113.0/24"), { ...plain, gateway: "10.83.0.254" });
    assertEquals(await made("192.0.2.0/24"), { ...plain, gateway: undefined, scope: "link" });
    const { code, stdout } = await pod.check(config, result);
    assertEquals(code, 0, stdout);
  },
});
