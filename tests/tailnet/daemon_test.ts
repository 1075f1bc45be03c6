/** Daemon mode: our own tailscaled carries the pods' packets. */

import { startCluster } from "./cluster.ts";
import { checkConnectivity } from "./connectivity.ts";
import { checkFaults } from "./faults.ts";
import { NEEDS } from "./needs.ts";

Deno.test({
  ...NEEDS,
  name: "daemon mode",
  async fn(t) {
    const nodes = [1, 2, 3].map(() => ({ mode: "daemon", base: true } as const));
    await using cluster = await startCluster({ nodes });
    await checkConnectivity(cluster, t);
    await checkFaults(cluster, t);
  },
});
