import { assertEquals, assertThrows } from "@std/assert";
import { ConfigError } from "../../sys/config_error.ts";
import { type JsonObject } from "../../sys/json_reader.ts";
import { type CniVersion } from "../version.ts";
import { readChainConfig } from "./chain_config.ts";
import { DARWIN, LINUX, type Platform, WINDOWS } from "./platform.ts";
import { renderElements } from "./render.ts";
import { parseSubnet } from "./subnet_file.ts";

const SUBNET = parseSubnet(
  "HEADCNI_NETWORK=10.1.0.0/16,10.9.0.0/16\nHEADCNI_SUBNET=10.1.17.1/24\n" +
    "HEADCNI_IPV6_NETWORK=fd01::/48\nHEADCNI_MTU=1400\nHEADCNI_IPMASQ=false\n",
);

/** The plugins of a configuration. */
function render(raw: JsonObject, platform: Platform = LINUX, version: CniVersion = "1.0.0") {
  const network = { cniVersion: version, name: "net", raw: { name: "net", ...raw } };
  const config = readChainConfig(network, platform);
  return renderElements(config, { network, version, platform, subnet: () => SUBNET });
}

/** Everything that is wrong with a configuration. */
function problems(raw: JsonObject, platform: Platform = LINUX): string[] {
  const error = assertThrows(() => render(raw, platform), ConfigError);
  return error.problems.map(({ key, problem }) => `${key} ${problem}`);
}

const HEAD = { cniVersion: "1.0.0", name: "net" };

Deno.test("a delegate is completed as flannel's plugin completes it", () => {
  const [bridge, ...others] = render({ delegate: {} });
  assertEquals(others, []);
  assertEquals(bridge, {
    position: 0,
    type: "bridge",
    label: "bridge (delegate)",
    version: "1.0.0",
    config: {
      ...HEAD,
      type: "bridge",
      ipMasq: true,
      mtu: 1400,
      isGateway: true,
      ipam: {
        type: "host-local",
        ranges: [[{ subnet: "10.1.17.0/24" }]],
        // None of IPv6: the node has no subnet of it.
        routes: [{ dst: "10.1.0.0/16", gw: "10.1.17.1" }, { dst: "10.9.0.0/16", gw: "10.1.17.1" }],
      },
    },
  });
});

Deno.test("what a delegate says itself is kept, ranges apart", () => {
  const [one] = render({
    delegate: { type: "bridge", ipMasq: false, mtu: 9000, isGateway: false, bridge: "br0" },
    ipam: { type: "other", ranges: [], routes: [{ dst: "10.9.0.0/16", gw: "10.1.17.9" }], x: 1 },
    runtimeConfig: { portMappings: [] },
    args: { cni: { ips: ["10.1.17.5"] } },
    prevResult: { cniVersion: "1.0.0" },
  });
  assertEquals(one?.config, {
    ...HEAD,
    type: "bridge",
    ipMasq: false,
    mtu: 9000,
    isGateway: false,
    bridge: "br0",
    ipam: {
      type: "other",
      x: 1,
      ranges: [[{ subnet: "10.1.17.0/24" }]],
      routes: [{ dst: "10.9.0.0/16", gw: "10.1.17.9" }, { dst: "10.1.0.0/16", gw: "10.1.17.1" }],
    },
    runtimeConfig: { portMappings: [] },
    args: { cni: { ips: ["10.1.17.5"] } },
  });
});

Deno.test("only a bridge is a gateway, and our own data path takes our own IPAM", () => {
  const [macvlan] = render({ delegate: { type: "macvlan", mtu: null } });
  assertEquals([macvlan?.config.isGateway, macvlan?.config.mtu], [undefined, 1400]);
  const [own] = render({ delegate: { type: "headcni" }, dataDir: "/data" });
  assertEquals([own?.config.dataDir, own?.config.ipam], [
    "/data",
    {
      type: "headcni-ipam",
      dataDir: "/data",
      ranges: [[{ subnet: "10.1.17.0/24" }]],
      routes: [{ dst: "10.1.0.0/16", gw: "10.1.17.1" }, { dst: "10.9.0.0/16", gw: "10.1.17.1" }],
    },
  ]);
});

Deno.test("on Windows the delegate is win-bridge with one subnet", () => {
  const [one] = render({ delegate: {} }, WINDOWS);
  assertEquals([one?.type, one?.config.ipMasq, one?.config.ipMasqNetwork, one?.config.mtu], [
    "win-bridge",
    false,
    "10.1.0.0/16",
    undefined,
  ]);
});

Deno.test("plugins get name, version and the capabilities they ask for", () => {
  const plugins = [
    { type: "bridge", ipam: { type: "host-local" } },
    { type: "portmap", capabilities: { portMappings: true, bandwidth: false } },
    { type: "bandwidth", cniVersion: "0.4.0", runtimeConfig: { own: 1 } },
    { type: "headcni-ipam", capabilities: { ips: true } },
  ];
  const runtimeConfig = { portMappings: [1], bandwidth: {}, ips: ["10.0.0.1"] };
  const rendered = render({ plugins, runtimeConfig, dataDir: "/data" });
  assertEquals(rendered.map(({ config, label, version }) => ({ label, version, config })), [
    { label: "bridge (plugins[0])", version: "1.0.0", config: { ...HEAD, ...plugins[0] } },
    {
      label: "portmap (plugins[1])",
      version: "1.0.0",
      config: { ...HEAD, type: "portmap", runtimeConfig: { portMappings: [1] } },
    },
    { label: "bandwidth (plugins[2])", version: "0.4.0", config: { ...HEAD, ...plugins[2] } },
    {
      label: "headcni-ipam (plugins[3])",
      version: "1.0.0",
      config: {
        ...HEAD,
        type: "headcni-ipam",
        dataDir: "/data",
        runtimeConfig: { ips: ["10.0.0.1"] },
      },
    },
  ]);
});

Deno.test("everything that is wrong is told at once", () => {
  assertEquals(problems({ delegate: {}, plugins: [{ type: "x" }] }), [
    "delegate and plugins are both there; only one can say what is run",
  ]);
  assertEquals(problems({ plugins: [] }), ["plugins is empty"]);
  assertEquals(problems({ plugins: {} }), ["plugins is {} instead of a list"]);
  assertEquals(problems({ delegate: [] }), ["delegate is [] instead of an object"]);
  assertEquals(
    problems({
      subnetFile: "subnet.env",
      ipam: { routes: [7] },
      delegate: { name: "x", ipam: {}, type: "../x", cniVersion: "3" },
    }),
    [
      'delegate.type is "../x" instead of the name of a plugin',
      "delegate.name must not be set, it is filled in",
      "delegate.ipam must not be set, it is made of ipam beside delegate and the subnet file",
      'delegate.cniVersion is "3" instead of one of 0.1.0, 0.2.0, 0.3.0, 0.3.1, 0.4.0, 1.0.0, 1.1.0',
      "ipam.routes[0] is no object",
      'subnetFile is "subnet.env" instead of an absolute path',
    ],
  );
  assertEquals(
    problems({ plugins: [{}, 7, { type: "headcni", delegate: {} }, { type: "headcni-ipam" }] }),
    [
      "plugins[1] is 7 instead of an object",
      "plugins[0].type is missing",
      "plugins[2].delegate is a chain inside a chain",
      "plugins[3].type is headcni-ipam, but plugins[2] is headcni already",
    ],
  );
});

Deno.test("macOS has no default delegate, and only Linux the native data path", () => {
  assertEquals(problems({ delegate: {} }, DARWIN), ["delegate.type is missing"]);
  assertEquals(problems({ plugins: [{ type: "headcni" }] }, WINDOWS), [
    "plugins[0].type is headcni, whose data path is Linux",
  ]);
});
