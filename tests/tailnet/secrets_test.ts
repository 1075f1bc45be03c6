/** No secret in any log, error, process argument or file that others may read. */

import { assert, assertEquals } from "@std/assert";
import { filesWithKeys, keysIn, ProcessWatch } from "./canary.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import { NEEDS } from "./needs.ts";
import { until } from "./until.ts";

/** Looks like a key, and is none: whoever prints it prints real ones, too. */
const CANARY = `hskey-api-canary000000-${"Canary".repeat(10)}`;

/** A node whose key Headscale refuses, a file others may read, a key in the wrong place. */
async function checkErrors(cluster: Cluster): Promise<void> {
  const node = await cluster.addNode({ mode: "daemon", apiKey: CANARY });
  node.startHeadcni();
  await until("the wrong key is told", async () => {
    const { conditions } = await node.status();
    return conditions.some(({ code }) => code === "HeadscaleRefuses");
  }, { pollMs: 1000 });
  const said: string[] = [];
  const collect = async (...args: readonly string[]) => {
    const { stdout, stderr, code } = await node.headcniOutput(...args as [string]);
    said.push(stdout, stderr);
    return code;
  };
  await collect("status");
  await collect("status", "--json");
  await node.end("headcni");
  said.push(node.log("headcni"));
  Deno.chmodSync(`${node.directory}/api.key`, 0o644);
  assertEquals(await collect("status"), 1, "a file others may read is refused");
  Deno.chmodSync(`${node.directory}/api.key`, 0o600);
  const config = Deno.readTextFileSync(node.configPath);
  Deno.writeTextFileSync(node.configPath, config.replace("apiKeyFile:", "apiKey:"));
  assertEquals(await collect("status"), 1, "an unknown key is refused");
  for (const url of [`http://user:${CANARY}@10.99.0.1`, `http://10.99.0.1/?key=${CANARY}`]) {
    Deno.writeTextFileSync(node.configPath, config.replace(/url: .*/, `url: ${url}`));
    assertEquals(await collect("status"), 1, "a key in the URL is refused");
  }
  Deno.writeTextFileSync(node.configPath, `headscale: {apiKey: ${CANARY}, url: [${CANARY}]}\n`);
  await collect("run");
  const text = said.join("\n");
  assert(text.includes("apiKey"), "the errors were seen");
  assertEquals(keysIn(text), []);
  assert(!text.includes("CanaryCanary"), "a canary was printed");
}

Deno.test({
  ...NEEDS,
  name: "secrets stay secret",
  async fn(t) {
    await using processes = new ProcessWatch();
    await using cluster = await startCluster({
      nodes: [{ mode: "daemon", base: true }, { mode: "host", base: true }],
      podsPerNode: 1,
    });
    await t.step("not in logs, status and files, where all goes well", async () => {
      for (const node of cluster.nodes) {
        assertEquals(keysIn(JSON.stringify(await node.status())), []);
        assertEquals(filesWithKeys(node.directory), [{ path: "/api.key", mode: "600" }]);
      }
    });
    await t.step("not in errors", async () => {
      await checkErrors(cluster);
    });
    await t.step("not in arguments and variables of processes", () => {
      processes.assertClean();
    });
  },
});
