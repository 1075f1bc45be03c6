/** Containers of Debian's containerd whose network Debian's plugins make, called by ours. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type ContainerdNode, startContainerd } from "../containerd/containerd.ts";
import { PEERS } from "../ipam/plugin.ts";
import { type Json } from "../netlink/fixture.ts";
import { Outside } from "../node/outside.ts";
import { type TestNode } from "../node/test_node.ts";
import { readStore } from "../plugin/snapshot.ts";
import { requires, root, tool } from "../requires.ts";
import { RUNTIME_CONFIG } from "./real_node.ts";

const NEEDS = requires(
  root,
  tool("containerd"),
  tool("ctr", "containerd"),
  tool("runc"),
  tool("busybox", "busybox-static"),
  tool("iptables"),
  tool("bridge", "containernetworking-plugins"),
);

const PLUGINS = ["bridge", "host-local", "portmap", "bandwidth", "firewall", "tuning"];

/** As the daemon writes it: it masquerades itself. */
const SUBNET_FILE = "/etc/cni/subnet.env";
const SUBNET = [
  "HEADCNI_NETWORK=10.87.0.0/16",
  "HEADCNI_SUBNET=10.87.3.1/24",
  "HEADCNI_MTU=1400",
  "HEADCNI_IPMASQ=true",
  "",
].join("\n");

const PORTMAP = { type: "portmap", runtimeConfig: RUNTIME_CONFIG };
const FURTHER = [
  { type: "bandwidth", runtimeConfig: RUNTIME_CONFIG },
  { type: "firewall", backend: "iptables" },
  { type: "tuning", sysctl: { "net.core.somaxconn": "600" } },
];

/** `delegate` first in a list of the runtime's, as people who come from flannel have it. */
const BY_DELEGATE = [
  {
    type: "headcni",
    subnetFile: SUBNET_FILE,
    ipam: { routes: [{ dst: "0.0.0.0/0" }] },
    delegate: { hairpinMode: true },
  },
  PORTMAP,
];

/** The whole chain inside ours. */
const BY_PLUGINS = [{
  type: "headcni",
  plugins: [
    {
      type: "bridge",
      isGateway: true,
      hairpinMode: true,
      mtu: 1400,
      ipam: { type: "host-local", subnet: "10.87.3.0/24", routes: [{ dst: "0.0.0.0/0" }] },
    },
    PORTMAP,
    ...FURTHER,
  ],
}];

async function startNode(plugins: readonly Json[]): Promise<ContainerdNode> {
  const containerd = await startContainerd();
  const { directory } = containerd.node;
  for (const name of PLUGINS) {
    Deno.copyFileSync(`${PEERS}/${name}`, `${directory}/cni/opt/cni/bin/${name}`);
  }
  Deno.writeTextFileSync(`${directory}/cni${SUBNET_FILE}`, SUBNET);
  Deno.writeTextFileSync(
    `${directory}/cni/etc/cni/net.d/10-chain.conflist`,
    JSON.stringify({ cniVersion: "1.0.0", name: "chainnet", plugins }),
  );
  return containerd;
}

/** What is left of pods; the bridge and the plugins' own empty chains stay. */
async function remainsOf(node: TestNode): Promise<Json> {
  const rules = (await node.run("iptables-save")).split("\n")
    .filter((line) => /^(-A|:CNI)/.test(line)).map((line) => line.replace(/ \[\d+:\d+\]$/, ""));
  const links = node.sandbox.ip("link").map(({ ifname }): string => ifname);
  const addresses = [...Deno.readDirSync(`${node.cniState}/networks/chainnet`)]
    .map(({ name }) => name).filter((name) => /^\d/.test(name));
  return {
    rules: rules.sort(),
    links: links.filter((name) => !/^(lo|cni0|up-.*)$/.test(name)),
    addresses,
    store: readStore(`${node.cniState}/headcni`),
  };
}

for (const [name, plugins] of Object.entries({ delegate: BY_DELEGATE, plugins: BY_PLUGINS })) {
  Deno.test({
    ...NEEDS,
    name: `containerd, bridge and host-local by ${name}: network, host port, nothing left`,
    async fn() {
      await using containerd = await startNode(plugins);
      const { node } = containerd;
      using outside = new Outside(node);
      await containerd.runToEnd("warm-up", "true");
      const before = await remainsOf(node);
      assertEquals([before.links, before.addresses, before.store], [[], [], []]);

      node.serve("hello", "hello from the container\n");
      const web = await containerd.start("web", "httpd -p 80 -h /www");
      const other = await containerd.start("other", "true");
      const address = await web.address();
      assert(address.startsWith("10.87.3."), address);
      assertStringIncludes(await other.run("ip link show eth0"), "mtu 1400");
      assertStringIncludes(await other.run(`ping -c 1 -W 2 ${address}`), "1 packets received");
      const fetch = ["busybox", "timeout", "5", "busybox", "wget", "-q", "-O", "-"];
      assertEquals(
        outside.run(...fetch, `http://${outside.nodeAddress}:8080/hello`),
        "hello from the container\n",
      );
      const [first] = readStore(`${node.cniState}/headcni`);
      assertEquals([first?.container_id, first?.type, first?.status], [
        "default-other",
        "bridge",
        "added",
      ]);

      assertEquals(await other.stop(), "");
      assertEquals(await web.stop(), "");
      assertEquals(await remainsOf(node), before);
    },
  });
}
