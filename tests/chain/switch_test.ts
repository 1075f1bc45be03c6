/** A network whose configuration changes between ADD and DEL: what made a pod also deletes it. */

import { assertEquals } from "@std/assert";
import { type Json } from "../plugin/namespace.ts";
import { configOf } from "../plugin/config.ts";
import { NEEDS } from "../plugin/needs.ts";
import { openNode, type Pod } from "../plugin/node.ts";
import { assertSameNode } from "../plugin/snapshot.ts";
import { FakeNode } from "./fake_plugins.ts";

const NATIVE = configOf("dual-stack");
const CHAIN: Json = {
  cniVersion: "1.1.0",
  name: "testnet",
  type: "headcni",
  plugins: [{ type: "alpha" }],
};

function valid(...pods: Pod[]): Json {
  const list = pods.map(({ containerId }) => ({ containerID: containerId, ifname: "eth0" }));
  return { "cni.dev/valid-attachments": list };
}

for (const repair of ["DEL", "GC"] as const) {
  Deno.test({
    ...NEEDS,
    name: `a pod of our own data path is removed by ${repair} after the switch to plugins`,
    async fn() {
      await using node = await openNode();
      await using fakes = new FakeNode(["alpha"]);
      const env = { CNI_PATH: fakes.bin };
      const before = await node.warmUp(NATIVE);
      const [pod, kept] = [await node.pod(), await node.pod()];
      await pod.add(NATIVE);
      if (repair === "DEL") await pod.del(CHAIN, { env });
      else {
        await kept.add(CHAIN, { env });
        await node.succeed("GC", { config: { ...CHAIN, ...valid(kept) }, env });
        assertEquals(fakes.names().filter((name) => name.startsWith("DEL")), []);
        await kept.del(CHAIN, { env });
      }
      assertSameNode(await node.snapshot(), before);
    },
  });

  Deno.test({
    ...NEEDS,
    name: `a pod of plugins is removed by ${repair} after the switch to our own data path`,
    async fn() {
      await using node = await openNode();
      await using fakes = new FakeNode(["alpha"]);
      const env = { CNI_PATH: fakes.bin };
      const before = await node.warmUp(NATIVE);
      const [pod, kept] = [await node.pod(), await node.pod()];
      await pod.add(CHAIN, { env });
      await kept.add(NATIVE);
      assertEquals(fakes.names(), ["ADD alpha"]);
      if (repair === "DEL") await pod.del(NATIVE, { env });
      else await node.succeed("GC", { config: { ...NATIVE, ...valid(kept) }, env });
      assertEquals(fakes.names(), ["DEL alpha"]);
      await kept.del(NATIVE);
      assertSameNode(await node.snapshot(), before);
    },
  });
}

Deno.test({
  ...NEEDS,
  name: "our own IPAM as a plugin of a chain, and our own data path with a fake after it",
  async fn() {
    await using node = await openNode();
    await using fakes = new FakeNode(["alpha"]);
    const env = { CNI_PATH: fakes.bin };
    const before = await node.warmUp(NATIVE);
    const { ipam } = NATIVE;
    for (const type of ["headcni-ipam", "headcni"]) {
      const config = { ...CHAIN, plugins: [{ type, ipam }, { type: "alpha" }] };
      const pod = await node.pod();
      const result = await pod.add(config, { env });
      const [call] = fakes.calls();
      assertEquals(call?.stdin.prevResult.ips.length, 2);
      await node.succeed("STATUS", { config, env });
      const checked = { ...config, prevResult: call?.stdin.prevResult };
      await node.succeed("CHECK", pod.about(checked, { env }));
      assertEquals(result["x-alpha"], true);
      // A plugin after ours fails: ours is undone, too.
      const other = await node.pod();
      fakes.answer("alpha", "ADD", '{"code":7,"msg":"no"}', 1);
      await node.fail("ADD", other.about(config, { env }));
      fakes.install("alpha");
      await node.succeed("GC", { config: { ...config, ...valid(pod) }, env });
      await pod.del(config, { env });
      assertSameNode(await node.snapshot(), before, `with ${type}`);
      fakes.calls();
    }
  },
});
