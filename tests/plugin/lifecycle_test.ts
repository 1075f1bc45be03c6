/** A pod's network from ADD to DEL, as the kernel shows it. */

import { assert, assertEquals } from "@std/assert";
import { configOf, type Stack, STACKS, VERSIONS } from "./config.ts";
import { type Json } from "./namespace.ts";
import { NEEDS } from "./needs.ts";
import { INTERNET, openNode, type Pod } from "./node.ts";
import { assertSameNode } from "./snapshot.ts";

/** The addresses of a result, without prefix length. */
function addressesOf(result: Json): string[] {
  return result.ips.map(({ address }: Json) => address.replace(/\/.*/, ""));
}

/** The parts of `ip address` this test is about. */
async function describeEnds(pod: Pod, result: Json) {
  const [host, container] = result.interfaces;
  const about = ({ ifname, mtu, address, flags, addr_info }: Json) => ({
    name: ifname,
    mtu,
    mac: address,
    isUp: flags.includes("UP") && flags.includes("LOWER_UP"),
    addresses: addr_info.filter(({ scope }: Json) => scope === "global")
      .map(({ local, prefixlen }: Json) => `${local}/${prefixlen}`),
    linkLocal: addr_info.filter(({ family, scope }: Json) => family + scope === "inet6link")
      .map(({ local }: Json) => local),
  });
  const [onHost] = await pod.node.ip("address", "show", "dev", host.name);
  const [inPod] = await pod.namespace.ip("address", "show", "dev", container.name);
  return { host: about(onHost ?? {}), container: about(inPod ?? {}) };
}

for (const stack of STACKS) {
  Deno.test({
    ...NEEDS,
    name: `${stack}: ADD gives what it tells, and DEL leaves the node as it was`,
    async fn() {
      await using node = await openNode({ internet: true });
      const config = configOf(stack);
      const before = await node.warmUp(config);
      const [one, two] = [await node.pod(), await node.pod()];
      const result = await one.add(config);
      const other = await two.add(config);

      const [host, container] = result.interfaces;
      assertEquals([container.name, container.sandbox], ["eth0", one.namespace.path]);
      assertEquals(host.sandbox, undefined);
      const ends = await describeEnds(one, result);
      const { mtu } = container;
      assertEquals(ends.host.linkLocal, stack === "IPv4" ? [] : ["fe80::1"]);
      const { linkLocal: _, ...inPod } = ends.container;
      assertEquals(inPod, {
        name: "eth0",
        mtu,
        mac: container.mac,
        isUp: true,
        addresses: result.ips.map(({ address }: Json) => address),
      });
      assertEquals([ends.host.mtu, ends.host.mac, ends.host.isUp], [host.mtu, host.mac, true]);
      for (const { gateway } of result.ips) {
        assert(ends.host.addresses.some((address: string) => address.startsWith(`${gateway}/`)));
        assert(await one.namespace.reaches(gateway), `pod → gateway ${gateway}`);
      }
      for (const address of addressesOf(other)) {
        assert(await one.namespace.reaches(address), `pod → pod ${address}`);
        assert(await node.reaches(address), `node → pod ${address}`);
      }
      await reachInternet(one, stack);

      await one.del(config);
      await two.del(config);
      assertSameNode(await node.snapshot(), before);
    },
  });
}

/** Who is there knows no way to a pod: an answer means that it saw the node's address. */
async function reachInternet(pod: Pod, stack: Stack): Promise<void> {
  using _tcp = pod.node.internet().listen(8080);
  await using _udp = await pod.node.internet().listenUdp(8080);
  if (stack !== "IPv6") {
    assertEquals(await pod.namespace.fetch(INTERNET.host4, 8080), INTERNET.node4);
    assertEquals(await pod.namespace.fetch(INTERNET.host4, 8080, "udp"), INTERNET.node4);
  }
  if (stack !== "IPv4") {
    assertEquals(await pod.namespace.fetch(INTERNET.host6, 8080), INTERNET.node6);
  }
}

Deno.test({
  ...NEEDS,
  name: "a pod without ipMasq is not masqueraded",
  async fn() {
    await using node = await openNode({ internet: true });
    const pod = await node.pod();
    const result = await pod.add(configOf("IPv4", { ipMasq: false }));
    assertEquals(await pod.namespace.reaches(INTERNET.host4), false);
    await node.internet().configure(`route add 10.83.0.0/24 via ${INTERNET.node4}`);
    using _server = node.internet().listen(8080);
    assertEquals([await pod.namespace.fetch(INTERNET.host4, 8080)], addressesOf(result));
  },
});

Deno.test({
  ...NEEDS,
  name: "pod_cidr without ipam is enough, also for two families",
  async fn() {
    await using node = await openNode();
    const config = {
      cniVersion: "1.1.0",
      name: "testnet",
      type: "headcni",
      pod_cidr: "10.84.1.0/24, fd84:1::/64",
    };
    const [one, two] = [await node.pod(), await node.pod()];
    await one.add(config);
    const { ips, routes } = await two.add(config);
    assertEquals(ips.map(({ gateway }: Json) => gateway), ["10.84.1.1", "fd84:1::1"]);
    assertEquals(routes, [{ dst: "0.0.0.0/0" }, { dst: "::/0" }]);
    for (const { address } of ips) {
      assert(await one.namespace.reaches(address.replace(/\/.*/, "")), address);
    }
    await one.del(config);
    await two.del(config);
  },
});

Deno.test({
  ...NEEDS,
  name: "the result is said in the version of the configuration",
  async fn(test) {
    await using node = await openNode();
    for (const cniVersion of VERSIONS) {
      await test.step(cniVersion, async () => {
        const pod = await node.pod();
        const config = configOf("dual-stack", { cniVersion });
        const result = await pod.add(config);
        assertEquals(shapeOf(result), expectedShape(cniVersion, result));
        await pod.del(config);
      });
    }
  },
});

/** Keys of each part, in the order of the alphabet. */
function shapeOf(result: Json): Json {
  const keys = (value: Json | undefined) => value && Object.keys(value).sort().join(" ");
  return {
    version: result.cniVersion,
    top: keys(result),
    host: keys(result.interfaces?.[0]),
    container: keys(result.interfaces?.[1]),
    ips: result.ips?.map(keys),
    old: keys(result.ip4),
    dns: result.dns,
  };
}

/** SPEC 0.2.0 "Result", 0.4.0 "Result", 1.1.0 "ADD Success". */
function expectedShape(version: string, { ip4, ip6 }: Json): Json {
  if (version < "0.3") {
    assert(ip4.ip.startsWith("10.83.0.") && ip6.ip.startsWith("fd83::"));
    return {
      version,
      top: "cniVersion dns ip4 ip6",
      host: undefined,
      container: undefined,
      ips: undefined,
      old: "gateway ip routes",
      dns: {},
    };
  }
  const isNew = version >= "1.";
  return {
    version,
    top: isNew ? "cniVersion interfaces ips routes" : "cniVersion dns interfaces ips routes",
    host: isNew ? "mac mtu name" : "mac name",
    container: isNew ? "mac mtu name sandbox" : "mac name sandbox",
    ips: Array(2).fill(isNew ? "address gateway interface" : "address gateway interface version"),
    old: undefined,
    dns: isNew ? undefined : {},
  };
}

Deno.test({
  ...NEEDS,
  name: "DEL succeeds without a namespace, without a path, and as often as it is called",
  async fn() {
    await using node = await openNode();
    const config = configOf("dual-stack");
    const before = await node.warmUp(config);
    for (const netns of [undefined, "", "/run/netns/hcnt-none", "/etc/hostname"]) {
      const pod = await node.pod();
      await pod.add(config);
      const { containerId } = pod;
      const call = { config, containerId, ...(netns === undefined ? {} : { netns }) };
      await node.succeed("DEL", call);
      await node.succeed("DEL", call);
      assertSameNode(await node.snapshot(), before, `after a DEL with CNI_NETNS=${netns}`);
    }
  },
});

Deno.test({
  ...NEEDS,
  name: "DEL after the pod's namespace is gone leaves the node as it was",
  async fn() {
    await using node = await openNode();
    const config = configOf("dual-stack", {
      runtimeConfig: { portMappings: [{ hostPort: 8080, containerPort: 80 }] },
    });
    const before = await node.warmUp(config);
    const pod = await node.pod();
    await pod.add(config);
    const { path } = pod.namespace;
    pod.namespace[Symbol.dispose]();
    await node.succeed("DEL", { config, containerId: pod.containerId, netns: path });
    assertSameNode(await node.snapshot(), before);
  },
});

Deno.test({
  ...NEEDS,
  name: "a second ADD is refused and leaves the first attachment as it is",
  async fn() {
    await using node = await openNode();
    const config = configOf("dual-stack");
    const [pod, other] = [await node.pod(), await node.pod()];
    const result = await pod.add(config);
    await other.add(config);
    const before = await node.snapshot();
    const error = await node.fail("ADD", pod.about(config));
    assertEquals([error.code, error.cniVersion], [104, "1.1.0"]);
    assertSameNode(await node.snapshot(), before);
    for (const address of addressesOf(result)) assert(await other.namespace.reaches(address));
  },
});
