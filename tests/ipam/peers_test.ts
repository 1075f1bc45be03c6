/** Debian's network plugins with our IPAM plugin, in real namespaces. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { requires, root, tool } from "../requires.ts";
import { createNamespace, deleteLink } from "./namespace.ts";
import { Bench, network } from "./plugin.ts";

const NEEDS = requires(
  root,
  tool("ip", "iproute2"),
  tool("host-local", "containernetworking-plugins"),
);
const VERSIONS = ["0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"];
const DUAL = { ranges: [[{ subnet: "10.99.7.0/24" }], [{ subnet: "fd99:7::/120" }]] };

/** Name of a bridge that no other test uses. */
function bridgeName(): string {
  return `hcni-t${crypto.randomUUID().slice(0, 6)}`;
}

for (const plugin of ["bridge", "ptp"]) {
  Deno.test({
    ...NEEDS,
    name: `Debian's ${plugin} sets up and takes down a container with our addresses`,
    fn: async () => {
      await using bench = new Bench();
      await using namespace = await createNamespace();
      const bridge = bridgeName();
      try {
        const config = network(DUAL, {
          cniVersion: "1.0.0",
          type: plugin,
          bridge,
          isGateway: true,
        });
        const about = { plugin, id: "pod-1", netns: namespace.path, config };

        const added = await bench.call({ ...about, command: "ADD" });
        assertEquals(added.code, 0, added.stdout);
        const ips: { address: string }[] = added.json.ips;
        assertEquals(ips.map(({ address }) => address), ["10.99.7.2/24", "fd99:7::2/120"]);
        const shown = await namespace.ip("-br", "addr", "show", "dev", "eth0");
        for (const { address } of ips) assertStringIncludes(shown, address.replace(/\/.*/, ""));

        const checked = await bench.ipam("check", "--details");
        assertStringIncludes(checked.stdout, "0 leaked, 0 missing, 0 foreign, 0 duplicate");
        assertEquals(checked.code, 0, checked.stdout);

        const withResult = { ...config, prevResult: added.json };
        const check = await bench.call({ ...about, config: withResult, command: "CHECK" });
        assertEquals([check.code, check.stdout], [0, ""]);

        const deleted = await bench.call({ ...about, config: withResult, command: "DEL" });
        assertEquals([deleted.code, deleted.stdout], [0, ""]);
        const left = await bench.ipam("list", "--json");
        assertEquals(left.json.map((one: { state: string }) => one.state), ["resting", "resting"]);
      } finally {
        await deleteLink(bridge);
      }
    },
  });
}

Deno.test({
  ...NEEDS,
  name: "Debian's bridge understands our result in every version",
  fn: async () => {
    await using bench = new Bench();
    const bridge = bridgeName();
    try {
      for (const cniVersion of VERSIONS) {
        await using namespace = await createNamespace();
        const id = `pod-${cniVersion}`;
        const config = network({ subnet: "10.99.8.0/24", routes: [{ dst: "0.0.0.0/0" }] }, {
          cniVersion,
          type: "bridge",
          bridge,
        });
        const about = { plugin: "bridge", id, netns: namespace.path, config };
        const added = await bench.call({ ...about, command: "ADD" });
        // Debian 12 has plugins that speak up to 1.0.0.
        if (added.json?.code === 1) continue;
        assertEquals(added.code, 0, added.stdout);
        assertStringIncludes(await namespace.ip("route"), "default via 10.99.8.1");
        assertEquals((await bench.call({ ...about, command: "DEL" })).code, 0);
      }
    } finally {
      await deleteLink(bridge);
    }
    const { json } = await bench.ipam("list", "--json");
    assert(json.length >= 6, "the plugin refused nearly all versions");
    assert(json.every((one: { state: string }) => one.state === "resting"));
  },
});

Deno.test({
  ...NEEDS,
  name: "a container that is gone is released by DEL without a namespace",
  fn: async () => {
    await using bench = new Bench();
    const bridge = bridgeName();
    const config = network(DUAL, { type: "bridge", bridge });
    try {
      {
        await using namespace = await createNamespace();
        const about = { plugin: "bridge", netns: namespace.path, config };
        assertEquals((await bench.call({ ...about, command: "ADD" })).code, 0);
      }
      const checked = await bench.ipam("check");
      assertEquals(checked.code, 3);
      assertStringIncludes(checked.stdout, "2 leaked, 0 missing");
      const deleted = await bench.call({ plugin: "bridge", netns: "", config, command: "DEL" });
      assertEquals([deleted.code, deleted.stdout], [0, ""]);
      assertEquals((await bench.ipam("check")).code, 0);
    } finally {
      await deleteLink(bridge);
    }
  },
});
