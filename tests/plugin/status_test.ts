/** STATUS: whether an ADD would work now, and why not. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { configOf, ipam } from "./config.ts";
import { type Json } from "./namespace.ts";
import { NEEDS } from "./needs.ts";
import { openNode } from "./node.ts";
import { assertSameNode } from "./snapshot.ts";

Deno.test({
  ...NEEDS,
  name: "STATUS of a node that was never used succeeds and makes nothing",
  async fn() {
    await using node = await openNode();
    const before = await node.snapshot();
    const { code, stdout, stderr } = await node.call("STATUS");
    assertEquals([code, stdout, stderr], [0, "", ""]);
    assertSameNode(await node.snapshot(), before);
  },
});

Deno.test({
  ...NEEDS,
  name: "STATUS says 50 while the pool is exhausted, as ADD says that it is",
  async fn() {
    await using node = await openNode();
    // One address: .1 is the gateway, .3 the broadcast address.
    const config = configOf("IPv4", { ipam: ipam(["10.88.0.0/30"]) });
    const [one, two] = [await node.pod(), await node.pod()];
    await node.succeed("STATUS", { config });
    await one.add(config);
    const full = await node.fail("STATUS", { config });
    assertEquals(full.code, 50);
    assertStringIncludes(full.msg, "exhausted");
    const refused = await node.fail("ADD", two.about(config));
    assertEquals(refused.code, 100);
    await one.del(config);
    await node.succeed("STATUS", { config });
    await two.add(config);
  },
});

/** What is in the way, as mounts that only the plugin sees; `@` is the data directory. */
const OBSTACLES: Readonly<Record<string, { mounts: string; says: string }>> = {
  "nft is not installed": {
    mounts: "mount --bind /dev/null $(readlink -f /usr/sbin/nft)",
    says: "nft is in none of",
  },
  "the data directory is read-only": {
    mounts: "mount --bind @ @ && mount -o remount,ro,bind @",
    says: "@",
  },
  "the data directory is missing, and cannot be made": {
    mounts: "mount --bind @ @ && mount -o remount,ro,bind @ && " +
      "export HEADCNI_DATA_DIR=@/not/there",
    says: "@",
  },
};

for (const [name, { mounts, says }] of Object.entries(OBSTACLES)) {
  for (const isUsed of [false, true]) {
    Deno.test({
      ...NEEDS,
      name: `STATUS says 50 while ${name}${isUsed ? "" : ", also before the first pod"}`,
      async fn() {
        await using node = await openNode();
        if (isUsed) await node.warmUp();
        const call = { mounts: mounts.replaceAll("@", node.dataDir) };
        const error = await node.fail("STATUS", call);
        assertEquals(error.code, 50);
        assertStringIncludes(`${error.msg} ${error.details}`, says.replace("@", node.dataDir));
        await node.succeed("STATUS");
      },
    });
  }
}

Deno.test({
  ...NEEDS,
  name: "ADD fails cleanly where STATUS says that it would",
  async fn(test) {
    for (const [name, { mounts }] of Object.entries(OBSTACLES)) {
      await test.step(name, async () => {
        await using node = await openNode();
        const pod = await node.pod();
        const before = await node.snapshot();
        await node.fail("ADD", {
          ...pod.about(configOf()),
          mounts: mounts.replaceAll("@", node.dataDir),
        });
        const { files: _now, ...after } = await node.snapshot();
        const { files: _then, ...expected } = before;
        assertEquals(after, expected);
        assertEquals((await pod.namespace.ip("link")).length, 1);
        await pod.add();
      });
    }
  },
});

Deno.test({
  ...NEEDS,
  name: "STATUS says 50 with neither pod_cidr nor ipam, and 7 with ranges that make no sense",
  async fn() {
    await using node = await openNode();
    const empty = { cniVersion: "1.1.0", name: "testnet", type: "headcni" };
    const codeOf = async (config: Json) => (await node.fail("STATUS", { config })).code;
    assertEquals(await codeOf(empty), 50);
    assertEquals(await codeOf(configOf("IPv4", { ipam: ipam(["10.1.2.3/24"]) })), 7);
    assertEquals(await codeOf({ ...empty, pod_cidr: "10.1.2.3/24" }), 7);
  },
});

Deno.test({
  ...NEEDS,
  name: "STATUS goes on while the store is locked by others",
  async fn() {
    await using node = await openNode();
    await node.warmUp();
    const file = await Deno.open(`${node.dataDir}/headcni.lock`, { read: true, write: true });
    await file.lock(true);
    try {
      const start = performance.now();
      await node.succeed("STATUS");
      assertEquals(performance.now() - start < 1000, true, "it waited for the lock");
    } finally {
      file.close();
    }
  },
});
