/**
 * The client against real servers, the same steps for each: the last version with the old routes
 * API, the first line with the new one, and the current one. `HEADCNI_TEST_HEADSCALE=PATH` adds a
 * server of your own.
 */

import { HEADSCALE_VERSIONS, TAILSCALE_VERSION } from "../../tools/go_parts/parts.ts";
import { part, requires, root, tool } from "../requires.ts";
import { checkBasics } from "./check_basics.ts";
import { checkKeys } from "./check_keys.ts";
import { checkNodes } from "./check_nodes.ts";
import { checkFilePolicy, checkPolicy } from "./check_policy.ts";
import { checkSecrets } from "./check_secrets.ts";
import { openCase } from "./conformance_case.ts";
import { startHeadscale } from "./server.ts";

const own = Deno.env.get("HEADCNI_TEST_HEADSCALE");
const [tailscaled, tailscale, ...headscales] = await Promise.all([
  part("tailscaled", TAILSCALE_VERSION),
  part("tailscale", TAILSCALE_VERSION),
  ...HEADSCALE_VERSIONS.map((version) => part("headscale", version)),
]);
const servers = headscales.map((server, index) => ({
  ...server,
  version: HEADSCALE_VERSIONS[index] ?? "",
}));
if (own !== undefined) servers.push({ path: own, missing: () => undefined, version: "own" });

const machine = [root, tool("ip", "iproute2"), tool("nsenter", "util-linux")];

for (const server of servers) {
  Deno.test({
    ...requires(...machine, server, tailscaled, tailscale),
    name: `the client and Headscale ${server.version}`,
    async fn(t) {
      const programs = { tailscaled: tailscaled.path, tailscale: tailscale.path };
      await using running = await startHeadscale(server.path);
      using test = openCase(running, { programs, version: server.version });
      await checkBasics(t, test);
      await checkPolicy(t, test);
      await checkKeys(t, test);
      await checkNodes(t, test);
      await checkSecrets(t, test);
    },
  });

  Deno.test({
    ...requires(...machine, server),
    name: `a policy in a file of Headscale ${server.version}`,
    async fn() {
      await using running = await startHeadscale(server.path, { policyMode: "file" });
      await checkFilePolicy(running);
    },
  });
}
