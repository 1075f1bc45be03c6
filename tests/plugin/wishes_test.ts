/** What a runtime may ask for one pod: addresses, hardware address, MTU, host ports, bandwidth. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { configOf, ipam, SUBNET4, SUBNET6 } from "./config.ts";
import { type Json, output } from "./namespace.ts";
import { NEEDS } from "./needs.ts";
import { type Call, INTERNET, openNode } from "./node.ts";
import { assertSameNode } from "./snapshot.ts";

const REQUESTS: Readonly<Record<string, { config?: Json; call?: Call }>> = {
  "CNI_ARGS IP": { call: { args: "IgnoreUnknown=1;IP=10.83.0.77;K8S_POD_NAME=a" } },
  "CNI_ARGS IP with a length": { call: { args: "IP=10.83.0.77/24" } },
  "runtimeConfig.ips": { config: { runtimeConfig: { ips: ["10.83.0.77/24"] } } },
  "runtimeConfig.IPs, as Go reads it": { config: { runtimeConfig: { IPs: ["10.83.0.77"] } } },
  "args.cni.ips": { config: { args: { cni: { ips: ["10.83.0.77"] } } } },
};

Deno.test({
  ...NEEDS,
  name: "a pod gets the address that is asked for",
  async fn(test) {
    await using node = await openNode();
    for (const [name, { config: more = {}, call = {} }] of Object.entries(REQUESTS)) {
      await test.step(name, async () => {
        const config = configOf("IPv4", more);
        const pod = await node.pod();
        const { ips } = await pod.add(config, call);
        assertEquals(ips[0].address, "10.83.0.77/24");
        await pod.del(config, call);
      });
    }
    await test.step("one of each family", async () => {
      const ips = ["fd83::77", "10.83.0.77"];
      const pod = await node.pod();
      const result = await pod.add(configOf("dual-stack", { runtimeConfig: { ips } }));
      const addresses = result.ips.map(({ address }: Json) => address);
      assertEquals(addresses, ["10.83.0.77/24", "fd83::77/64"]);
    });
    await test.step("an address in use is refused, and its holder keeps it", async () => {
      const before = await node.snapshot();
      const other = await node.pod();
      const config = configOf("IPv4", { runtimeConfig: { ips: ["10.83.0.77"] } });
      const error = await node.fail("ADD", other.about(config));
      assertEquals(error.code, 101);
      assertStringIncludes(error.msg, "10.83.0.77");
      assertSameNode(await node.snapshot(), before);
    });
  },
});

Deno.test({
  ...NEEDS,
  name: "a pod gets the hardware address that is asked for",
  async fn(test) {
    await using node = await openNode();
    const mac = "02:00:5e:10:00:01";
    for (const key of ["mac", "Mac", "MAC"]) {
      await test.step(key, async () => {
        const config = configOf("IPv4", { runtimeConfig: { [key]: mac.toUpperCase() } });
        const pod = await node.pod();
        const { interfaces } = await pod.add(config);
        assertEquals(interfaces[1].mac, mac);
        const [link] = await pod.namespace.ip("link", "show", "eth0");
        assertEquals(link?.address, mac);
        await pod.del(config);
      });
    }
    await test.step("by CNI_ARGS, as podman asks", async () => {
      const pod = await node.pod();
      const { interfaces } = await pod.add(configOf(), { args: `IgnoreUnknown=1;MAC=${mac}` });
      assertEquals(interfaces[1].mac, mac);
      await pod.del();
    });
    await test.step("by args.cni.mac (CONVENTIONS)", async () => {
      const pod = await node.pod();
      const config = configOf("IPv4", { args: { cni: { mac } } });
      const { interfaces } = await pod.add(config);
      assertEquals(interfaces[1].mac, mac);
      await pod.del(config);
    });
  },
});

Deno.test({
  ...NEEDS,
  name: "the MTU is the configured one, else the tunnel's, else 1280",
  async fn() {
    await using node = await openNode();
    const mtuOf = async (config: Json) => {
      const pod = await node.pod();
      const { interfaces } = await pod.add(config);
      const [link] = await pod.namespace.ip("link", "show", "eth0");
      const [host] = await node.ip("link", "show", interfaces[0].name);
      await pod.del(config);
      assertEquals([link?.mtu, host?.mtu], [interfaces[1].mtu, interfaces[0].mtu]);
      return link?.mtu;
    };
    assertEquals(await mtuOf(configOf("IPv4")), 1280);
    assertEquals(await mtuOf(configOf("IPv4", { mtu: 9000 })), 9000);
    assertEquals(await mtuOf(configOf("IPv4", { mtu: 0 })), 1280);
    await node.configure("link add tailscale0 type bridge", "link set tailscale0 mtu 1350");
    assertEquals(await mtuOf(configOf("IPv4")), 1350);
    assertEquals(await mtuOf(configOf("IPv4", { mode: "daemon" })), 1280);
  },
});

Deno.test({
  ...NEEDS,
  name: "host ports lead into the pod: from outside, from the node, from pods, for both families",
  async fn(test) {
    await using node = await openNode({ internet: true });
    const portMappings = [
      { hostPort: 8080, containerPort: 80, protocol: "tcp" },
      { HostPort: 8080, ContainerPort: 80, Protocol: "UDP", HostIP: "" },
      { hostPort: 8081, containerPort: 80, hostIP: INTERNET.node4 },
      { hostPort: 8082, containerPort: 80, hostIP: "127.0.0.1" },
      { hostPort: 8083, containerPort: 80, hostIP: "::" },
      { hostPort: 0, containerPort: 81 },
    ];
    const config = configOf("dual-stack", { runtimeConfig: { portMappings } });
    const before = await node.warmUp(config);
    const [pod, other] = [await node.pod(), await node.pod()];
    const result = await pod.add(config);
    await other.add(configOf("dual-stack"));
    using _tcp = pod.namespace.listen(80);
    const udp = await pod.namespace.listenUdp(80);
    const internet = node.internet();
    const { node4, node6, host4, host6 } = INTERNET;

    await test.step("from outside, and the pod sees who calls", async () => {
      assertEquals(await internet.fetch(node4, 8080), host4);
      assertEquals(await internet.fetch(node6, 8080), host6);
      assertEquals(await internet.fetch(node4, 8080, "udp"), host4);
    });
    await test.step("bound to one address of the node", async () => {
      assertEquals(await internet.fetch(node4, 8081), host4);
      assertEquals(await internet.fetch(node6, 8081), undefined);
      assertEquals(await internet.fetch(node4, 8082), undefined);
      assert(await node.fetch("127.0.0.1", 8082));
      assertEquals(await node.fetch(node4, 8082), undefined);
    });
    await test.step("an unspecified address of one family is that family", async () => {
      assertEquals(await internet.fetch(node6, 8083), host6);
      assertEquals(await internet.fetch(node4, 8083), undefined);
    });
    await test.step("from the node itself", async () => {
      for (const address of ["127.0.0.1", node4, node6]) {
        assert(await node.fetch(address, 8080), address);
      }
    });
    await test.step("from another pod, and from the pod itself", async () => {
      for (const address of [node4, node6]) {
        assert(await other.namespace.fetch(address, 8080), `other pod → ${address}`);
        assert(await pod.namespace.fetch(address, 8080), `hairpin → ${address}`);
      }
    });
    await test.step("CHECK is content", async () => {
      const { code, stdout } = await pod.check(config, result);
      assertEquals(code, 0, stdout);
    });
    await test.step("taken ports are refused, and nothing is left of the second pod", async () => {
      const now = await node.snapshot();
      const late = await node.pod();
      const error = await node.fail("ADD", late.about(config));
      assertEquals(error.code, 105);
      assertStringIncludes(error.msg, "8080");
      assertSameNode(await node.snapshot(), now);
      assertEquals((await late.namespace.ip("link")).length, 1);
    });
    await udp[Symbol.asyncDispose]();
    await other.del(configOf("dual-stack"));
    // Without runtimeConfig, as some runtimes call it.
    await pod.del(configOf("dual-stack"));
    assertSameNode(await node.snapshot(), before);
    assertEquals(await internet.fetch(node4, 8080), undefined);
  },
});

Deno.test({
  ...NEEDS,
  name: "bandwidth is limited both ways, whatever the case of the keys",
  async fn() {
    await using node = await openNode();
    const limits = { rate: 8_000_000, burst: 800_000 };
    const spellings = [
      { ingressRate: 8e6, ingressBurst: 8e5, egressRate: 16e6, egressBurst: 16e5 },
      { IngressRate: 8e6, IngressBurst: 8e5, EgressRate: 16e6, EgressBurst: 16e5 },
    ];
    for (const bandwidth of spellings) {
      const pod = await node.pod();
      const config = configOf("IPv4", { runtimeConfig: { bandwidth } });
      const result = await pod.add(config);
      const rateOf = async (name: string, device: string) => {
        const text = await output("tc", "-n", name, "-json", "qdisc", "show", "dev", device);
        const [queue] = JSON.parse(text);
        return [queue.kind, queue.options.rate, queue.options.burst];
      };
      const { rate, burst } = limits;
      const into = await rateOf(node.name, result.interfaces[0].name);
      const outOf = await rateOf(pod.namespace.name, "eth0");
      assertEquals(into, ["tbf", rate / 8, burst / 8]);
      assertEquals(outOf, ["tbf", rate / 4, burst / 4]);
      const { code, stdout } = await pod.check(config, result);
      assertEquals(code, 0, stdout);
      await pod.del(config);
    }
  },
});

Deno.test({
  ...NEEDS,
  name: "name servers of the runtime are stronger than those of the file",
  async fn() {
    await using node = await openNode();
    const dnsOf = async (more: Json) => {
      const pod = await node.pod();
      const { dns } = await pod.add(configOf("IPv4", more));
      await pod.del();
      return dns;
    };
    const dns = { nameservers: ["10.96.0.10"], search: ["cluster.local"], options: ["ndots:5"] };
    assertEquals(await dnsOf({ dns }), dns);
    assertEquals(
      await dnsOf({
        dns,
        runtimeConfig: { dns: { Servers: ["9.9.9.9"], Searches: ["a.example"] } },
      }),
      { nameservers: ["9.9.9.9"], search: ["a.example"] },
    );
    const magic_dns = { enable: true, base_domain: "tail.example" };
    assertEquals(await dnsOf({ dns, magic_dns }), {
      nameservers: ["10.96.0.10", "100.100.100.100"],
      search: ["cluster.local", "tail.example"],
      options: ["ndots:5"],
    });
  },
});

Deno.test({
  ...NEEDS,
  name: "ranges of the runtime go in front of those of the file",
  async fn() {
    await using node = await openNode();
    const pod = await node.pod();
    const ipRanges = [[{ Subnet: "10.86.0.0/24", RangeStart: "10.86.0.9", Gateway: "10.86.0.2" }]];
    const config = configOf("IPv4", { runtimeConfig: { IPRanges: ipRanges } });
    const { ips } = await pod.add(config);
    assertEquals(ips.map(({ address }: Json) => address.slice(0, 6)), ["10.86.", "10.83."]);
    assertEquals(ips[0], { address: "10.86.0.9/24", gateway: "10.86.0.2", interface: 1 });
    await pod.del(config);
  },
});

Deno.test({
  ...NEEDS,
  name: "a pod with several addresses of one family answers on each",
  async fn() {
    await using node = await openNode();
    const subnets = [SUBNET4, "10.87.0.0/24", SUBNET6];
    const config = configOf("IPv4", {
      ipam: ipam(subnets, { routes: [{ dst: "0.0.0.0/0" }, { dst: "::/0" }] }),
    });
    const [pod, other] = [await node.pod(), await node.pod()];
    const { ips } = await pod.add(config);
    await other.add(config);
    for (const { address } of ips) {
      assert(await other.namespace.reaches(address.replace(/\/.*/, "")), address);
    }
  },
});
