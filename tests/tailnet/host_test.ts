/** Host mode: the machine's own tailscaled carries the pods' packets. */

import { startCluster } from "./cluster.ts";
import { checkConnectivity } from "./connectivity.ts";
import { NEEDS } from "./needs.ts";

Deno.test({
  ...NEEDS,
  name: "host mode",
  async fn(t) {
    const nodes = [1, 2, 3].map(() => ({ mode: "host" } as const));
    await using cluster = await startCluster({ nodes });
    await checkConnectivity(cluster, t);
  },
});
