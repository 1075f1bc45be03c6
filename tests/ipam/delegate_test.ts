/** Debian's host-local and static as IPAM plugins that we run. */

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { DelegateError } from "../../lib/cni/errors.ts";
import { delegate, delegateAdd, type Delegation } from "../../lib/cni/ipam_delegate.ts";
import { temporaryDirectory } from "../../lib/sys/testing.ts";
import { requires, tool } from "../requires.ts";
import { PEERS } from "./plugin.ts";

const NEEDS = requires(tool("host-local", "containernetworking-plugins"));
const VERSIONS = ["0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0"] as const;

function delegation(
  type: string,
  version: Delegation["version"],
  ipam: Record<string, unknown>,
): (containerId: string) => Delegation {
  const config = { cniVersion: version, name: "net", type: "x", ipam: { type, ...ipam } };
  return (containerId) => ({
    type,
    path: ["/nowhere", PEERS],
    env: {
      CNI_CONTAINERID: containerId,
      CNI_NETNS: "/proc/self/ns/net",
      CNI_IFNAME: "eth0",
      CNI_PATH: PEERS,
    },
    config,
    version,
  });
}

for (const version of VERSIONS) {
  Deno.test({
    ...NEEDS,
    name: `host-local is run as IPAM plugin in version ${version}`,
    fn: async () => {
      using directory = temporaryDirectory();
      const ranges = [[{ subnet: "10.44.0.0/24" }], [{ subnet: "fd44::/64" }]];
      const routes = [{ dst: "0.0.0.0/0" }];
      const dataDir = directory.path;
      const told = delegation("host-local", version, { ranges, routes, dataDir });
      const result = await delegateAdd(told("pod-1"));
      assertEquals(result.ips.map(({ address }) => address), ["10.44.0.2/24", "fd44::2/64"]);
      assertEquals(result.ips[0]?.gateway, "10.44.0.1");
      assertEquals(result.routes.map(({ dst }) => dst), ["0.0.0.0/0"]);
      if (version >= "0.4.0") {
        const config = {
          ...told("pod-1").config,
          prevResult: { cniVersion: version, ips: result.ips },
        };
        await delegate("CHECK", { ...told("pod-1"), config });
      }
      await delegate("DEL", told("pod-1"));
      const left = [...Deno.readDirSync(`${dataDir}/net`)].map(({ name }) => name).sort();
      assertEquals(left, ["last_reserved_ip.0", "last_reserved_ip.1", "lock"]);
    },
  });
}

Deno.test({
  ...NEEDS,
  name: "host-local without a free address fails with its own words, and holds nothing after",
  fn: async () => {
    using directory = temporaryDirectory();
    const dataDir = directory.path;
    // The first set has room, the second has one address.
    const small = { subnet: "10.45.1.0/24", rangeStart: "10.45.1.9", rangeEnd: "10.45.1.9" };
    const ipam = { ranges: [[{ subnet: "10.45.0.0/24" }], [small]], dataDir };
    const told = delegation("host-local", "1.0.0", ipam);
    await delegateAdd(told("pod-1"));
    const error = await assertRejects(() => delegateAdd(told("pod-2")), DelegateError);
    assertStringIncludes(error.message, "no IP addresses available");
    const held = [...Deno.readDirSync(`${dataDir}/net`)].map(({ name }) => name);
    assertEquals(held.filter((name) => /^10/.test(name)).sort(), ["10.45.0.2", "10.45.1.9"]);
  },
});

Deno.test({
  ...NEEDS,
  name: "static is run as IPAM plugin",
  fn: async () => {
    const addresses = [{ address: "10.46.0.9/24", gateway: "10.46.0.1" }];
    const told = delegation("static", "1.0.0", { addresses, dns: { nameservers: ["10.46.0.53"] } });
    const result = await delegateAdd(told("pod-1"));
    assertEquals(result.ips, addresses);
    assertEquals(result.dns, { nameservers: ["10.46.0.53"] });
    await delegate("DEL", told("pod-1"));
  },
});

Deno.test("a plugin that hangs is stopped, and its child with it", async () => {
  using directory = temporaryDirectory();
  const script = `${directory.path}/slow`;
  await Deno.writeTextFile(script, "#!/bin/sh\nsleep 60\n", { mode: 0o755 });
  const told = {
    ...delegation("slow", "1.0.0", {})("pod-1"),
    path: [directory.path],
    timeoutMs: 300,
  };
  const start = performance.now();
  const error = await assertRejects(() => delegateAdd(told), DelegateError);
  assertStringIncludes(error.message, "it did not end within 300 ms");
  assert(performance.now() - start < 10_000);
});
