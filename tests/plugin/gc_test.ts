/** GC: what the runtime does not list is removed, and nothing else. */

import { assert, assertEquals } from "@std/assert";
import { configOf, ipam } from "./config.ts";
import { type Json } from "./namespace.ts";
import { NEEDS } from "./needs.ts";
import { type Node, openNode, type Pod } from "./node.ts";
import { assertSameNode, changeStore } from "./snapshot.ts";

const CONFIG = configOf("dual-stack", {
  runtimeConfig: { portMappings: [{ hostPort: 8080, containerPort: 80 }] },
});

/** What GC is called with: no runtimeConfig, no prevResult (SPEC, "GC"). */
const FOR_GC = configOf("dual-stack");

function valid(...pods: Pod[]): Json[] {
  return pods.map(({ containerId }) => ({ containerID: containerId, ifname: "eth0" }));
}

/** Two pods; the second has a host port and is the one to be collected. */
async function twoPods(node: Node): Promise<{ kept: Pod; stale: Pod; address: string }> {
  const [kept, stale] = [await node.pod(), await node.pod()];
  const { ips } = await kept.add(FOR_GC);
  return { kept, stale, address: ips[0].address.replace(/\/.*/, "") };
}

const SPELLINGS: Readonly<Record<string, (list: Json[]) => Json>> = {
  "cni.dev/valid-attachments": (list) => ({ "cni.dev/valid-attachments": list }),
  "cni.dev/attachments": (list) => ({ "cni.dev/attachments": list }),
  "both keys, as libcni sends them": (list) => ({
    "cni.dev/valid-attachments": list,
    "cni.dev/attachments": list,
  }),
};

for (const [spelling, write] of Object.entries(SPELLINGS)) {
  Deno.test({
    ...NEEDS,
    name: `GC by ${spelling} removes what is not listed`,
    async fn() {
      await using node = await openNode();
      const { kept, stale, address } = await twoPods(node);
      const before = await node.snapshot();
      await stale.add(CONFIG);
      await stale.add(CONFIG, { ifname: "net1", config: FOR_GC });
      const { stdout } = await node.call("GC", { config: { ...FOR_GC, ...write(valid(kept)) } });
      assertEquals(stdout, "");
      assertSameNode(await node.snapshot(), before);
      assert(await node.reaches(address));
      assertEquals((await stale.namespace.ip("link")).length, 1);
    },
  });
}

/** Both mean that nothing is in use; `cnitool gc` sends no list at all. */
const NOTHING_VALID: readonly [name: string, attachments: Json][] = [
  ["no list", {}],
  ["an empty list", { "cni.dev/valid-attachments": [] }],
];

for (const [name, attachments] of NOTHING_VALID) {
  Deno.test({
    ...NEEDS,
    name: `GC with ${name} removes everything of this network and nothing of another`,
    async fn() {
      await using node = await openNode();
      const other = configOf("IPv4", { name: "other", ipam: ipam(["10.85.0.0/24"]) });
      const stranger = await node.pod();
      await stranger.add(other);
      const before = await node.snapshot();
      for (let count = 0; count < 3; count++) await (await node.pod()).add(FOR_GC);
      await node.succeed("GC", { config: { ...FOR_GC, ...attachments } });
      assertSameNode(await node.snapshot(), before);
      const { code } = await node.call("GC", { config: FOR_GC });
      assertEquals(code, 0, "a second GC finds nothing to do");
    },
  });
}

Deno.test({
  ...NEEDS,
  name: "GC looks at both the container and the interface",
  async fn() {
    await using node = await openNode();
    const pod = await node.pod();
    const config = configOf("IPv4");
    await pod.add(config);
    await pod.add(config, { ifname: "net1" });
    const attachments = [{ containerID: pod.containerId, ifname: "net1" }];
    await node.succeed("GC", { config: { ...config, "cni.dev/valid-attachments": attachments } });
    const names = (await pod.namespace.ip("link")).map(({ ifname }) => ifname);
    assertEquals(names, ["lo", "net1"]);
  },
});

Deno.test({
  ...NEEDS,
  name: "GC removes interfaces and rules that the store knows nothing of",
  async fn() {
    await using node = await openNode();
    const { kept, stale } = await twoPods(node);
    const before = await node.snapshot();
    await stale.add(CONFIG);
    changeStore(
      node.dataDir,
      `DELETE FROM address WHERE attachment IN
         (SELECT id FROM attachment WHERE container_id = '${stale.containerId}');
       DELETE FROM attachment WHERE container_id = '${stale.containerId}'`,
    );
    await node.succeed("GC", { config: { ...FOR_GC, "cni.dev/valid-attachments": valid(kept) } });
    assertSameNode(await node.snapshot(), before);
  },
});

Deno.test({
  ...NEEDS,
  name: "GC removes rules whose pod is gone with its namespace, and the interface with them",
  async fn() {
    await using node = await openNode();
    const { kept, stale } = await twoPods(node);
    const before = await node.snapshot();
    await stale.add(CONFIG);
    stale.namespace[Symbol.dispose]();
    await node.succeed("GC", { config: { ...FOR_GC, "cni.dev/valid-attachments": valid(kept) } });
    assertSameNode(await node.snapshot(), before);
  },
});

Deno.test({
  ...NEEDS,
  name: "GC keeps a listed attachment that the store has lost",
  async fn() {
    await using node = await openNode();
    const { kept, address } = await twoPods(node);
    changeStore(node.dataDir, "DELETE FROM address; DELETE FROM attachment");
    await node.succeed("GC", { config: { ...FOR_GC, "cni.dev/valid-attachments": valid(kept) } });
    assert(await node.reaches(address));
  },
});

Deno.test({
  ...NEEDS,
  name: "GC works after the database was lost altogether",
  async fn() {
    await using node = await openNode();
    const { kept, stale, address } = await twoPods(node);
    const { filter, links } = await node.snapshot();
    await stale.add(CONFIG);
    for (const { name } of Deno.readDirSync(node.dataDir)) {
      await Deno.remove(`${node.dataDir}/${name}`);
    }
    await node.succeed("GC", { config: { ...FOR_GC, "cni.dev/valid-attachments": valid(kept) } });
    const after = await node.snapshot();
    assertEquals([after.filter, after.links], [filter, links]);
    assert(await node.reaches(address));
  },
});

Deno.test({
  ...NEEDS,
  name: "GC with a list it cannot read removes nothing",
  async fn() {
    await using node = await openNode();
    await (await node.pod()).add(FOR_GC);
    const before = await node.snapshot();
    const attachments = { "cni.dev/valid-attachments": { "0": "not a list" } };
    const { value } = await node.call("GC", { config: { ...FOR_GC, ...attachments } });
    assertEquals(value?.code, 7);
    assertSameNode(await node.snapshot(), before);
  },
});
