/** Debian's plugins, by `delegate` and by `plugins`: ADD, CHECK, DEL, and nothing left. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { PEERS } from "../ipam/plugin.ts";
import { execute, type Json, type Namespace } from "../plugin/namespace.ts";
import { INTERNET, type Node, openNode, type Pod } from "../plugin/node.ts";
import {
  addPod,
  checkPod,
  delegateConfig,
  delPod,
  heldAddresses,
  HOST_PORT,
  NEEDS,
  pluginsConfig,
  type Remains,
  remainsOf,
  writeSubnetFile,
} from "./real_node.ts";

/** What plugins make once per node is there afterwards: the bridge, their chains. */
async function warmUp(node: Node, config: Json): Promise<Remains> {
  const pod = await node.pod();
  await addPod(pod, config);
  await delPod(pod, config);
  return await remainsOf(node);
}

function addressesOf({ ips }: Json): string[] {
  return ips.map(({ address }: Json) => address.replace(/\/.*/, ""));
}

/** The kernel takes two seconds to make sure of a bridge's IPv6 address. */
const PINGS = 15;

async function assertReaches(pod: Pod, result: Json): Promise<void> {
  const reaches = async (from: Namespace, address: string) => {
    for (let count = 0; count < PINGS; count++) {
      if (await from.reaches(address)) return true;
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    return false;
  };
  for (const { gateway } of result.ips) {
    assert(await reaches(pod.namespace, gateway), `pod → ${gateway}`);
  }
  for (const address of addressesOf(result)) {
    assert(await reaches(pod.node, address), `node → ${address}`);
  }
}

for (const cniVersion of ["0.3.1", "0.4.0", "1.0.0"]) {
  Deno.test({
    ...NEEDS,
    name: `bridge and host-local by delegate, CNI ${cniVersion}: ADD, CHECK, DEL, nothing left`,
    async fn() {
      await using node = await openNode();
      writeSubnetFile(node);
      const config = delegateConfig(node, { cniVersion });
      const before = await warmUp(node, config);
      const pod = await node.pod();
      const result = await addPod(pod, config);
      assertEquals(result.cniVersion, cniVersion);
      assertEquals(result.interfaces.map(({ name }: Json) => name.replace(/^veth.*/, "veth")), [
        "cni0",
        "veth",
        "eth0",
      ]);
      assertEquals(result.routes.map(({ dst }: Json) => dst), [
        "0.0.0.0/0",
        "::/0",
        "10.85.0.0/16",
        "fd85::/48",
      ]);
      await assertReaches(pod, result);
      const [, eth0] = await pod.namespace.ip("link");
      assertEquals(eth0?.mtu, 1400);
      assertEquals(heldAddresses(node).length, 2);
      if (cniVersion >= "0.4.0") {
        const checked = await checkPod(pod, config, result);
        assertEquals(checked.code, 0, checked.stdout);
        await pod.namespace.configure("route del 10.85.0.0/16");
        const broken = await checkPod(pod, config, result);
        assertEquals(broken.code, 1);
        assertStringIncludes(broken.value?.msg, "bridge");
      }
      await delPod(pod, config);
      assertEquals(heldAddresses(node), []);
      assertEquals(await remainsOf(node), before);
      assertEquals((await pod.namespace.ip("link")).length, 1);
      await delPod(pod, config);
    },
  });
}

/**
 * CHECK of the whole chain. Debian 12's portmap (1.1.1) looks for its IPv4 rules in ip6tables and
 * so fails whenever it is asked; ours then has to say what portmap itself says.
 */
async function assertChecks(pod: Pod, config: Json, prevResult: Json): Promise<void> {
  const { cniVersion, name, runtimeConfig } = config;
  const portmap = await execute({
    command: pod.node.inside(`${PEERS}/portmap`),
    stdin: JSON.stringify({
      cniVersion,
      name,
      type: "portmap",
      snat: true,
      runtimeConfig,
      prevResult,
    }),
    env: {
      PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
      CNI_COMMAND: "CHECK",
      CNI_CONTAINERID: pod.containerId,
      CNI_NETNS: pod.namespace.path,
      CNI_IFNAME: "eth0",
      CNI_PATH: PEERS,
    },
  });
  const { code, value, stdout } = await checkPod(pod, config, prevResult);
  assertEquals(code, portmap.code, stdout);
  if (code === 0) return;
  const { code: number, msg } = JSON.parse(portmap.stdout);
  assertEquals([value?.code, value?.msg], [
    number,
    `Cannot use plugin portmap (number 2 of the chain): ${msg}`,
  ]);
}

Deno.test({
  ...NEEDS,
  name: "bridge, bandwidth, firewall and tuning by plugins: CHECK sees what is missing",
  async fn() {
    await using node = await openNode();
    const config = pluginsConfig(node);
    config.plugins = config.plugins.filter(({ type }: Json) => type !== "portmap");
    const pod = await node.pod();
    const result = await addPod(pod, config);
    const { code, stdout } = await checkPod(pod, config, result);
    assertEquals(code, 0, stdout);
    await node.run("iptables", "-F", "CNI-FORWARD");
    const broken = await checkPod(pod, config, result);
    assertStringIncludes(broken.value?.msg, "Cannot use plugin firewall (number 3 of the chain): ");
    await delPod(pod, config);
  },
});

Deno.test({
  ...NEEDS,
  name: "bridge, portmap, bandwidth, firewall and tuning by plugins: all of it works, nothing left",
  async fn() {
    await using node = await openNode({ internet: true });
    const config = pluginsConfig(node);
    const before = await warmUp(node, config);
    const pod = await node.pod();
    const result = await addPod(pod, config);
    await assertReaches(pod, result);
    await assertChecks(pod, config, result);

    using _server = pod.namespace.listen(80);
    assertEquals(await node.internet().fetch(INTERNET.node4, HOST_PORT), INTERNET.host4);
    assert(await node.fetch("127.0.0.1", HOST_PORT), "the host port on the node itself");
    // The bridge masquerades.
    assert(await pod.namespace.reaches(INTERNET.host4));

    const queues = JSON.parse(await node.run("tc", "-json", "qdisc"));
    assert(queues.some(({ kind }: Json) => kind === "tbf"), "bandwidth");
    assertStringIncludes(
      await node.run("iptables", "-S", "CNI-FORWARD"),
      addressesOf(result)[0] ?? "",
    );
    assertEquals((await pod.namespace.run("sysctl", "-n", "net.core.somaxconn")).trim(), "600");

    // A runtime may leave out runtimeConfig: what was recorded counts.
    const { runtimeConfig: _, ...plain } = config;
    await delPod(pod, plain);
    assertEquals(heldAddresses(node), []);
    assertEquals(await remainsOf(node), before);
  },
});

Deno.test({
  ...NEEDS,
  name: "two interfaces of one container are two chains",
  async fn() {
    await using node = await openNode();
    // Not with ipMasq of the bridge: its chain of rules is one per container, and the first DEL
    // wants to take it away.
    writeSubnetFile(node, { HEADCNI_IPMASQ: "true" });
    const config = delegateConfig(node);
    const before = await warmUp(node, config);
    const pod = await node.pod();
    const first = await addPod(pod, config);
    const between = await remainsOf(node);
    const second = await addPod(pod, config, { ifname: "net1" });
    assertEquals(new Set([...addressesOf(first), ...addressesOf(second)]).size, 4);
    assertEquals(heldAddresses(node).length, 4);
    assertEquals((await pod.namespace.ip("link")).map(({ ifname }) => ifname), [
      "lo",
      "eth0",
      "net1",
    ]);
    await delPod(pod, config, { ifname: "net1" });
    assertEquals(await remainsOf(node), between);
    await assertReaches(pod, first);
    await delPod(pod, config);
    assertEquals(await remainsOf(node), before);
  },
});

Deno.test({
  ...NEEDS,
  name: "an ADD that fails half-way leaves nothing of the real plugins before it",
  async fn() {
    await using node = await openNode();
    const config = pluginsConfig(node);
    const before = await warmUp(node, config);
    const pod = await node.pod();
    const [bridge, portmap, bandwidth, firewall] = config.plugins;
    const broken = { type: "tuning", sysctl: { "net.core.no_such_thing": "1" } };
    const plugins = [bridge, portmap, bandwidth, firewall, broken];
    const call = pod.about({ ...config, plugins }, { env: { CNI_PATH: "/usr/lib/cni" } });
    const error = await node.fail("ADD", call);
    assertStringIncludes(error.msg, "Cannot use plugin tuning (plugins[4]): ");
    assertStringIncludes(error.msg, "no_such_thing");
    assertEquals(heldAddresses(node), []);
    assertEquals(await remainsOf(node), before);
    assertEquals((await pod.namespace.ip("link")).length, 1);
  },
});

Deno.test({
  ...NEEDS,
  name: "a DEL after the namespace is gone gives the addresses back",
  async fn() {
    await using node = await openNode();
    writeSubnetFile(node, { HEADCNI_IPMASQ: "true" });
    const config = delegateConfig(node);
    const before = await warmUp(node, config);
    const pod = await node.pod();
    await addPod(pod, config);
    pod.namespace[Symbol.dispose]();
    Deno.removeSync(`${node.dataDir}/subnet.env`); // and the daemon has taken its file away
    await delPod(pod, config);
    assertEquals(heldAddresses(node), []);
    assertEquals(await remainsOf(node), before);
  },
});

Deno.test({
  ...NEEDS,
  name: "our own IPAM behind a bridge, our own data path before portmap",
  async fn() {
    await using node = await openNode({ internet: true });
    writeSubnetFile(node);
    const bin = `${node.dataDir}/bin`;
    Deno.mkdirSync(bin);
    const { PROGRAM } = await import("../binary/program.ts");
    Deno.symlinkSync(PROGRAM, `${bin}/headcni-ipam`);
    const env = { CNI_PATH: `${bin}:/usr/lib/cni` };
    const bridge = delegateConfig(node, {
      ipam: { type: "headcni-ipam", cooldown: 0, routes: [{ dst: "0.0.0.0/0" }] },
    });
    const native = {
      cniVersion: "1.0.0",
      name: "ownnet",
      type: "headcni",
      plugins: [
        { type: "headcni", pod_cidr: "10.86.0.0/24" },
        { type: "portmap", capabilities: { portMappings: true } },
      ],
      runtimeConfig: {
        portMappings: [{ hostPort: HOST_PORT, containerPort: 80, protocol: "tcp" }],
      },
    };
    for (const config of [bridge, native]) {
      const pod = await node.pod();
      const result = await pod.add(config, { env });
      await assertReaches(pod, result);
      if (config === bridge) {
        const { code, stdout } = await pod.check(config, result, { env });
        assertEquals(code, 0, stdout);
      } else {
        using _server = pod.namespace.listen(80);
        assertEquals(await node.internet().fetch(INTERNET.node4, HOST_PORT), INTERNET.host4);
      }
      await pod.del(config, { env });
      assertEquals((await remainsOf(node)).store, []);
    }
  },
});
