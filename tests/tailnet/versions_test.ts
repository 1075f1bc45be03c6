/** Older versions of Headscale: the routes API (0.25), the first with approve_routes (0.26). */

import { assertEquals } from "@std/assert";
import { HEADSCALE_VERSIONS } from "../../tools/go_parts/parts.ts";
import { part, requires } from "../requires.ts";
import { INNER, startCluster } from "./cluster.ts";
import { NEEDS } from "./needs.ts";

for (const version of HEADSCALE_VERSIONS.slice(0, -1)) {
  const headscale = await part("headscale", version);
  Deno.test({
    ...NEEDS,
    ignore: NEEDS.ignore || requires(headscale).ignore,
    name: `Headscale ${version}`,
    async fn() {
      await using cluster = await startCluster({
        headscale: headscale.path,
        nodes: [{ mode: "daemon", base: true }, { mode: "host", base: true }],
        podsPerNode: 1,
      });
      await cluster.assertAllReach();
      assertEquals(cluster.sniffer.inClear(INNER), []);
    },
  });
}
