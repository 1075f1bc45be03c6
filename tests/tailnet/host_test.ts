/** Host mode: the machine's own tailscaled carries the pods' packets. */

import { assertEquals } from "@std/assert";
import { INNER, startCluster } from "./cluster.ts";
import { NEEDS } from "./needs.ts";

Deno.test({
  ...NEEDS,
  name: "host mode: pods of all nodes reach each other, and nothing is in clear",
  async fn(t) {
    await using cluster = await startCluster({ nodes: [{ mode: "host" }, { mode: "host" }] });
    await t.step("every pod reaches every pod under its own address", async () => {
      await cluster.assertAllReach();
    });
    await t.step("nothing of it crosses the underlay in clear", () => {
      assertEquals(cluster.sniffer.inClear(INNER), []);
    });
  },
});
