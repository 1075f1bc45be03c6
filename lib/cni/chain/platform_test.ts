import { assertEquals } from "@std/assert";
import { findPlugin } from "../plugin_exec.ts";
import { DARWIN, LINUX, platformOf, WINDOWS } from "./platform.ts";
import { parseSubnet } from "./subnet_file.ts";

const SUBNET = parseSubnet(
  "HEADCNI_NETWORK=10.1.0.0/16\nHEADCNI_SUBNET=10.1.17.1/24\nHEADCNI_IPV6_NETWORK=fd01::/48\n" +
    "HEADCNI_IPV6_SUBNET=fd01::/64\nHEADCNI_MTU=1400\nHEADCNI_IPMASQ=true\n",
);

Deno.test("platformOf() knows the systems", () => {
  assertEquals([platformOf("linux"), platformOf("darwin"), platformOf("windows")], [
    LINUX,
    DARWIN,
    WINDOWS,
  ]);
  assertEquals(platformOf(), LINUX);
});

Deno.test("on Linux and macOS the plugin masquerades if the daemon does not", () => {
  for (const platform of [LINUX, DARWIN]) {
    const defaults = { ipMasq: false, mtu: 1400 };
    assertEquals(platform.delegateDefaults("bridge", SUBNET), { ...defaults, isGateway: true });
    assertEquals(platform.delegateDefaults("ptp", SUBNET), defaults);
    assertEquals(platform.ipamPools(SUBNET), {
      ranges: [[{ subnet: "10.1.17.0/24" }], [{ subnet: "fd01::/64" }]],
    });
  }
});

Deno.test("on Windows the plugin masquerades if the node is to, and takes one subnet", () => {
  assertEquals(WINDOWS.delegateDefaults("win-bridge", SUBNET), {
    ipMasq: true,
    ipMasqNetwork: "10.1.0.0/16",
  });
  assertEquals(WINDOWS.ipamPools(SUBNET), { subnet: "10.1.17.0/24" });
  assertEquals(WINDOWS.defaultDelegate, "win-bridge");
});

Deno.test("on Windows a container that joins a sandbox goes by the sandbox's name", () => {
  const name = (netns: string) => WINDOWS.flannelName({ containerId: "c1", netns });
  assertEquals(["", "none", "container:sandbox", "{guid}"].map(name), [
    "c1",
    "c1",
    "sandbox",
    "c1",
  ]);
  const joined = { containerId: "c1", netns: "container:sandbox" };
  assertEquals(WINDOWS.leftOver(joined, "net"), "HNS endpoint sandbox_net");
  assertEquals(LINUX.leftOver(joined, "net"), undefined);
  assertEquals(LINUX.flannelName(joined), "c1");
});

Deno.test("on Windows a plugin is an .exe, and neither slash nor drive is part of a name", () => {
  const exists = new Set(["C:\\cni/win-bridge.exe"]);
  const files = {
    stat: (path: string) =>
      exists.has(path)
        ? { kind: "file", size: 1, mode: 0, uid: 0, gid: 0, modifiedMs: 0 } as const
        : undefined,
  };
  const { naming } = WINDOWS;
  const found = findPlugin("win-bridge", ["D:\\x", "C:\\cni"], { files, naming });
  assertEquals(found, "C:\\cni/win-bridge.exe");
  assertEquals(["a\\b", "a/b", "C:x", "ok"].map(naming.isPath), [true, true, true, false]);
  assertEquals(["C:\\x", "\\x", "/x", "x", "x:y"].map(WINDOWS.isAbsolute), [
    true,
    true,
    true,
    false,
    false,
  ]);
});

Deno.test("a namespace named by a process is not looked for later", () => {
  assertEquals(LINUX.lastingNetns("/proc/77/ns/net"), "");
  assertEquals(LINUX.lastingNetns("/run/netns/pod"), "/run/netns/pod");
  assertEquals(LINUX.isOwnNetns("/proc/self/ns/net"), true);
  assertEquals(LINUX.isOwnNetns("/run/netns/nowhere"), false);
});
