/** CHECK: content with what ADD made, and by name discontent with everything that differs. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { configOf } from "./config.ts";
import { type Json, output } from "./namespace.ts";
import { NEEDS } from "./needs.ts";
import { openNode, type Pod } from "./node.ts";
import { assertSameNode, changeStore } from "./snapshot.ts";

const LIMITS = { ingressRate: 8e6, ingressBurst: 8e5, egressRate: 8e6, egressBurst: 8e5 };

const CONFIG = configOf("dual-stack", {
  runtimeConfig: {
    portMappings: [{ hostPort: 8080, containerPort: 80 }],
    bandwidth: LIMITS,
  },
});

/** What a mistake has at hand. */
interface Scene {
  readonly pod: Pod;
  readonly host: string;
  readonly result: Json;
}

/** One difference, and what CHECK has to say about it. */
interface Mistake {
  readonly plant: (scene: Scene) => unknown;
  readonly says: (scene: Scene) => string;
}

const inPod = (...lines: string[]) => ({ pod }: Scene) => pod.namespace.configure(...lines);
const onNode = (line: (scene: Scene) => string) => (scene: Scene) =>
  scene.pod.node.configure(line(scene));
const nft = (line: (scene: Scene) => string) => (scene: Scene) =>
  scene.pod.node.run("nft", line(scene));
const address = ({ result }: Scene, index: number): string => result.ips[index].address;
const host = (scene: Scene, index: number): string => address(scene, index).replace(/\/.*/, "");

const MISTAKES: Readonly<Record<string, Mistake>> = {
  "the pod's link is down": {
    plant: inPod("link set eth0 down"),
    says: () => "interface eth0 is down",
  },
  "the node's link is down": {
    plant: onNode(({ host }) => `link set ${host} down`),
    says: ({ host }) => `interface ${host} is down`,
  },
  "the pod's link has another MTU": {
    plant: inPod("link set eth0 mtu 1400"),
    says: () => "interface eth0 has MTU 1400, not 1280",
  },
  "the pod's link has another hardware address": {
    plant: inPod("link set eth0 address 02:00:00:00:00:09"),
    says: () => "interface eth0 has the hardware address 02:00:00:00:00:09",
  },
  "the pod's link has another name": {
    plant: inPod("link set eth0 down", "link set eth0 name eth7"),
    says: () => "interface eth0 is missing",
  },
  "the pod's link is of another kind": {
    plant: inPod("link delete eth0", "link add eth0 type bridge", "link set eth0 up"),
    says: () => "interface eth0 is no veth",
  },
  "the pod's link is gone": {
    plant: inPod("link delete eth0"),
    says: () => "interface eth0 is missing",
  },
  "the IPv4 address is gone": {
    plant: (scene) => inPod(`address delete ${address(scene, 0)} dev eth0`)(scene),
    says: (scene) => `interface eth0 does not have the address ${address(scene, 0)}`,
  },
  "the IPv6 address is gone": {
    plant: (scene) => inPod(`address delete ${address(scene, 1)} dev eth0`)(scene),
    says: (scene) => `interface eth0 does not have the address ${address(scene, 1)}`,
  },
  "the gateway's address is gone": {
    plant: onNode(({ host }) => `address delete 10.83.0.1/32 dev ${host}`),
    says: ({ host }) => `interface ${host} does not have the address 10.83.0.1/32`,
  },
  "the IPv4 default route is gone": {
    plant: inPod("route delete default"),
    says: () => "the container has no route to 0.0.0.0/0",
  },
  "the IPv6 default route is gone": {
    plant: inPod("route delete default via fe80::1 dev eth0"),
    says: () => "the container has no route to ::/0",
  },
  "the route to the gateway is gone": {
    plant: inPod("route delete 10.83.0.1"),
    says: () => "the container has no route to 10.83.0.1/32",
  },
  "the node's IPv4 route is gone": {
    plant: onNode((scene) => `route delete ${host(scene, 0)}`),
    says: (scene) => `the node has no route to ${host(scene, 0)}/32`,
  },
  "the node's IPv6 route is gone": {
    plant: onNode((scene) => `route delete ${host(scene, 1)}`),
    says: (scene) => `the node has no route to ${host(scene, 1)}/128`,
  },
  "the source check does not know the pod": {
    plant: nft((s) => `delete element inet headcni source4 { "${s.host}" . ${host(s, 0)} }`),
    says: (scene) => `source4 { ${scene.host} . ${host(scene, 0)} } is missing`,
  },
  "the ARP check does not know the pod": {
    plant: nft((s) => `delete element arp headcni source4 { "${s.host}" . ${host(s, 0)} }`),
    says: () => "arp headcni source4",
  },
  "the pod is not masqueraded": {
    plant: nft((scene) => `delete element inet headcni masquerade6 { ${host(scene, 1)} }`),
    says: (scene) => `masquerade6 { ${host(scene, 1)} } is missing`,
  },
  "the host port is gone": {
    plant: nft(() => "delete element inet headcni host_port4 { tcp . 8080 }"),
    says: () => "host_port4 { tcp . 8080",
  },
  "the tables are gone": {
    plant: nft(() => "flush ruleset"),
    says: () => "is missing",
  },
  "a chain of the tables is empty": {
    plant: nft(() => "flush chain inet headcni check_pod"),
    says: () => "the packet filter's tables are not whole",
  },
  "the node does not forward IPv4": {
    plant: ({ pod }) => pod.node.run("sysctl", "-qw", "net.ipv4.ip_forward=0"),
    says: () => "the node does not forward IPv4",
  },
  "the node does not forward IPv6": {
    plant: ({ pod }) => pod.node.run("sysctl", "-qw", "net.ipv6.conf.all.forwarding=0"),
    says: () => "the node does not forward IPv6",
  },
  "the bandwidth into the pod is not limited": {
    plant: ({ pod, host }) =>
      output("tc", "-n", pod.node.name, "qdisc", "del", "dev", host, "root"),
    says: () => "the bandwidth into the container is not limited",
  },
  "the bandwidth out of the pod is not limited": {
    plant: ({ pod }) =>
      output("tc", "-n", pod.namespace.name, "qdisc", "del", "dev", "eth0", "root"),
    says: () => "the bandwidth out of the container is not limited",
  },
  "the store does not know the attachment": {
    plant: ({ pod }) =>
      changeStore(
        pod.node.dataDir,
        "UPDATE address SET attachment = NULL, kind = 'reserved'; DELETE FROM attachment",
      ),
    says: () => "the store knows of none",
  },
  "the store knows another address": {
    plant: ({ pod }) =>
      changeStore(
        pod.node.dataDir,
        "UPDATE address SET address = CAST(substr(address, 1, 15) || x'EE' AS BLOB)" +
          " WHERE position = 0",
      ),
    says: () => "the store says",
  },
};

Deno.test({
  ...NEEDS,
  name: "CHECK names the one thing that differs",
  async fn(test) {
    for (const [name, { plant, says }] of Object.entries(MISTAKES)) {
      await test.step(name, async () => {
        await using node = await openNode();
        const pod = await node.pod();
        const result = await pod.add(CONFIG);
        const scene = { pod, result, host: result.interfaces[0].name };
        const good = await pod.check(CONFIG, result);
        assertEquals([good.code, good.stdout], [0, ""]);

        await plant(scene);
        const { code, value } = await pod.check(CONFIG, result);
        assertEquals([code, value?.code], [1, 103], Deno.inspect(value));
        assertStringIncludes(value?.msg, says(scene));
      });
    }
  },
});

Deno.test({
  ...NEEDS,
  name: "CHECK of a second interface misses the rules that choose its routes",
  async fn() {
    await using node = await openNode();
    const pod = await node.pod();
    const config = configOf("dual-stack");
    await pod.add(config);
    const call = { ifname: "net1" };
    const result = await pod.add(config, call);
    assertEquals((await pod.check(config, result, call)).code, 0);
    for (const { address } of result.ips) {
      const source = address.replace(/\/.*/, "");
      const family = source.includes(":") ? "-6" : "-4";
      await pod.namespace.ip(family, "rule", "delete", "from", source);
      const { value } = await pod.check(config, result, call);
      assertEquals(value?.code, 103);
      assertStringIncludes(value?.msg, `the container has no rule for ${source}`);
    }
  },
});

Deno.test({
  ...NEEDS,
  name: "CHECK changes nothing, is content in every version that has it, and with routes moved",
  async fn() {
    await using node = await openNode();
    for (const cniVersion of ["0.4.0", "1.0.0", "1.1.0"]) {
      const pod = await node.pod();
      const config = { ...CONFIG, cniVersion };
      const result = await pod.add(config);
      const before = await node.snapshot();
      const { code, stdout } = await pod.check(config, result);
      assertEquals([code, stdout], [0, ""]);
      assertSameNode(await node.snapshot(), before);
      // A later plugin of the chain may lead the default route elsewhere.
      await pod.namespace.configure("route replace default via 10.83.0.77 dev eth0 onlink");
      assertEquals((await pod.check(config, result)).code, 0);
      await pod.del(config);
    }
  },
});

Deno.test({
  ...NEEDS,
  name: "CHECK of a pod whose namespace is gone fails with the namespace's error",
  async fn() {
    await using node = await openNode();
    const pod = await node.pod();
    const config = configOf();
    const result = await pod.add(config);
    const netns = "/run/netns/hcnt-gone";
    const { value } = await pod.check(config, result, { netns });
    assertEquals(value?.code, 8);
    assert(value?.msg.includes(netns));
  },
});
