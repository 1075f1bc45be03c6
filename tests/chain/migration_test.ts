/** A node that was flannel's: pods from before the switch are deleted as flannel would have. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { PROGRAM } from "../binary/program.ts";
import { PEERS } from "../ipam/plugin.ts";
import { execute, type Json } from "../plugin/namespace.ts";
import { type Node, openNode, type Pod } from "../plugin/node.ts";
import {
  addByFlannel,
  flannelDir,
  NETWORK,
  savedContainers,
  writeFlannelSubnet,
} from "./flannel_node.ts";
import { heldAddresses, hostLocalDir, NEEDS, remainsOf } from "./real_node.ts";

const ENV = { CNI_PATH: PEERS };

/** What a node may be switched to: a bridge as before, or our own data path. */
const SWITCHES: Readonly<Record<string, (node: Node) => Json>> = {
  "delegate": (node) => ({
    subnetFile: writeFlannelSubnet(node),
    ipam: { dataDir: hostLocalDir(node), routes: [{ dst: "0.0.0.0/0" }] },
    delegate: { hairpinMode: true },
  }),
  "plugins": (node) => ({
    plugins: [{
      type: "bridge",
      isGateway: true,
      ipam: { type: "host-local", subnet: "10.88.5.0/24", dataDir: hostLocalDir(node) },
    }],
  }),
  "our own data path": () => ({
    ipam: {
      type: "headcni-ipam",
      subnet: "10.88.5.0/24",
      cooldown: 0,
      routes: [{ dst: "0.0.0.0/0" }],
    },
  }),
};

function configOf(node: Node, to: keyof typeof SWITCHES, more: Json = {}): Json {
  const keys = SWITCHES[to]?.(node) ?? {};
  const flannelDataDir = flannelDir(node);
  return { cniVersion: "1.0.0", name: NETWORK, type: "headcni", flannelDataDir, ...keys, ...more };
}

/** A node with one pod of flannel's, and what it looked like before. */
async function flannelNode(node: Node): Promise<{ pod: Pod; result: Json; before: Json }> {
  const first = await node.pod();
  await addByFlannel(node, first);
  await node.succeed("DEL", first.about(configOf(node, "delegate"), { env: ENV }));
  const before = { ...await remainsOf(node) };
  const pod = await node.pod();
  const result = await addByFlannel(node, pod);
  assertEquals(savedContainers(node), [pod.containerId]);
  assertEquals(heldAddresses(node, NETWORK).length, 1);
  return { pod, result, before };
}

async function assertNothingLeft(node: Node, before: Json): Promise<void> {
  assertEquals(savedContainers(node), []);
  assertEquals(heldAddresses(node, NETWORK), []);
  assertEquals({ ...await remainsOf(node) }, before);
}

for (const to of Object.keys(SWITCHES)) {
  for (const name of [NETWORK, "another-name"]) {
    Deno.test({
      ...NEEDS,
      name: `a pod of flannel's is deleted after the switch to ${to}, network ${name}`,
      async fn() {
        await using node = await openNode();
        const { pod, result, before } = await flannelNode(node);
        const config = configOf(node, to, { name, prevResult: result });
        await pod.del(config, { env: ENV });
        await assertNothingLeft(node, before);
        assertEquals((await pod.namespace.ip("link")).length, 1);
        await pod.del(config, { env: ENV });
      },
    });
  }

  Deno.test({
    ...NEEDS,
    name: `after the switch to ${to} a DEL that fails, or is killed, is finished by the next one`,
    async fn() {
      await using node = await openNode();
      const { pod, before } = await flannelNode(node);
      const config = configOf(node, to);
      const call = pod.about(config, { env: { CNI_PATH: "/nowhere" } });
      const error = await node.fail("DEL", call);
      assertStringIncludes(error.msg, "Cannot use plugin bridge (saved by flannel): ");
      assertEquals(savedContainers(node), [pod.containerId]);
      const env = { ...ENV, HEADCNI_FAILPOINT: "chain.flannel.run" };
      const { signal } = await node.call("DEL", pod.about(config, { env }));
      assertEquals([signal, savedContainers(node)], ["SIGKILL", [pod.containerId]]);
      await pod.del(config, { env: ENV });
      await assertNothingLeft(node, before);
    },
  });

  Deno.test({
    ...NEEDS,
    name: `GC after the switch to ${to} deletes what is not listed, and only that`,
    async fn() {
      await using node = await openNode();
      const { pod, before } = await flannelNode(node);
      // Debian's plugins do not speak 1.1.0 themselves.
      const config = configOf(node, to, { cniVersion: "1.1.0" });
      if (config.delegate !== undefined) config.delegate.cniVersion = "1.0.0";
      for (const plugin of config.plugins ?? []) plugin.cniVersion = "1.0.0";
      const list = (...ids: string[]) => ({
        ...config,
        "cni.dev/valid-attachments": ids.map((containerID) => ({ containerID, ifname: "eth0" })),
      });
      await node.succeed("GC", { config: list(pod.containerId), env: ENV });
      assertEquals(savedContainers(node), [pod.containerId]);
      await node.succeed("GC", { config: { ...list("other"), name: "another-net" }, env: ENV });
      assertEquals(savedContainers(node), [pod.containerId], "it is of another network");
      pod.namespace[Symbol.dispose]();
      await node.succeed("GC", { config: list("other"), env: ENV });
      assertEquals(savedContainers(node), []);
      assertEquals(heldAddresses(node, NETWORK), []);
      // Bridge finds the rules of its masquerade by addresses of a link that is gone.
      const { links, store } = await remainsOf(node);
      assertEquals([links, store], [before.links, before.store]);
    },
  });
}

Deno.test({
  ...NEEDS,
  name: "pods from before and after the switch to delegate share the bridge and its addresses",
  async fn() {
    await using node = await openNode();
    const { pod, result } = await flannelNode(node);
    const config = configOf(node, "delegate");
    const fresh = await node.pod();
    const added = await fresh.add(config, { env: ENV });
    const addresses = [result, added].map(({ ips }) => ips[0].address.replace(/\/.*/, ""));
    assertEquals(new Set(addresses).size, 2);
    assert(await fresh.namespace.reaches(addresses[0] ?? ""), "new → old");
    assert(await pod.namespace.reaches(addresses[1] ?? ""), "old → new");
    await pod.del(config, { env: ENV });
    await fresh.del(config, { env: ENV });
    assertEquals(heldAddresses(node, NETWORK), []);
  },
});

Deno.test({
  ...NEEDS,
  name: "addresses taken over by import are not given out, and are free after the DEL",
  async fn() {
    await using node = await openNode();
    const { pod, result, before } = await flannelNode(node);
    const { code, stderr } = await execute({
      command: [PROGRAM, "ipam", "import", "host-local", `${hostLocalDir(node)}/${NETWORK}`],
      env: { HEADCNI_DATA_DIR: node.dataDir, NO_COLOR: "1" },
    });
    assertEquals(code, 0, stderr);
    const config = configOf(node, "our own data path");
    const held = result.ips[0].address.replace(/\/.*/, "");
    const fresh = await node.pod();
    const env = { ...ENV, CNI_ARGS: `IP=${held}` };
    const error = await node.fail("ADD", fresh.about(config, { env }));
    assertEquals(error.code, 101);
    await pod.del(config, { env: ENV });
    await assertNothingLeft(node, before);
    const given = await fresh.add(config, { env });
    assertEquals(given.ips[0].address.replace(/\/.*/, ""), held);
    await fresh.del(config, { env: ENV });
    assertEquals((await remainsOf(node)).store, []);
  },
});

Deno.test({
  ...NEEDS,
  name: "a file of flannel's that lost its content in a crash does not keep the pod from ending",
  async fn() {
    await using node = await openNode();
    const { pod } = await flannelNode(node);
    for (const text of ["", "{", "[]", "{}"]) {
      Deno.writeTextFileSync(`${flannelDir(node)}/${pod.containerId}`, text);
      for (const to of Object.keys(SWITCHES)) {
        const call = pod.about(configOf(node, to), { env: ENV });
        const { code, stderr } = await node.call("DEL", call);
        assertEquals(code, 0);
        assertStringIncludes(stderr, pod.containerId);
      }
    }
  },
});
