import { assertEquals, assertThrows } from "@std/assert";
import { type JsonObject } from "../sys/json_reader.ts";
import { ConfigError } from "../sys/config_error.ts";
import { parseCniArgs } from "./cni_args.ts";
import { configuredDirectory, readCooldownMs, readIpamConfig } from "./ipam_config.ts";
import { type CniVersion } from "./version.ts";

const SUBNET = { subnet: "10.0.0.0/24" };

function read(config: JsonObject, args = "", version: CniVersion = "1.0.0") {
  return readIpamConfig({ config, version, args: parseCniArgs(args) });
}

Deno.test("requested addresses of all three places are added together", () => {
  const { requested } = read({
    ipam: SUBNET,
    args: { cni: { ips: ["10.0.0.5/24"] } },
    runtimeConfig: { IPs: ["10.0.0.6"] },
  }, "IgnoreUnknown=1;IP=10.0.0.3,10.0.0.4");
  assertEquals(requested.map(String), ["10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.6"]);
});

Deno.test("routes are passed on with all their keys", () => {
  const routes = [{ dst: "10.1.2.3/8", gw: "10.0.0.1", mtu: 1280, table: 0 }, { dst: "::/0" }];
  assertEquals([...read({ ipam: { ...SUBNET, routes } }).routes], routes);
});

Deno.test("what is wrong is told with its key", () => {
  const cases: [JsonObject, string][] = [
    [{ ipam: [] }, "ipam is [] instead of an object"],
    [{ ipam: { ...SUBNET, routes: {} } }, "ipam.routes is {} instead of a list"],
    [{ ipam: { ...SUBNET, routes: [{}] } }, "ipam.routes[0]"],
    [{ ipam: { ...SUBNET, routes: [{ dst: "0.0.0.0/0", gw: "::1" }] } }, "ipam.routes[0].gw"],
    [{ ipam: SUBNET, runtimeConfig: { ips: [1] } }, "runtimeConfig.ips[0]"],
    [{ ipam: SUBNET, args: { cni: { ips: ["x"] } } }, "args.cni.ips[0]"],
    [{ ipam: SUBNET, runtimeConfig: { ipRanges: {} } }, "runtimeConfig.ipRanges"],
  ];
  for (const [config, words] of cases) {
    assertThrows(() => read(config), ConfigError, words);
  }
});

Deno.test("everything that is wrong is told at once, and once", () => {
  const config = {
    ipam: { ranges: 5, routes: [{ dst: "x" }, { gw: "10.0.0.1" }], resolvConf: true },
    runtimeConfig: 7,
    args: { cni: { ips: ["y"] } },
  };
  const { problems } = assertThrows(() => read(config, "IP=z"), ConfigError);
  assertEquals(problems.map(({ key }) => key).sort(), [
    "CNI_ARGS IP",
    "args.cni.ips[0]",
    "ipam.ranges",
    "ipam.resolvConf",
    "ipam.routes[0].dst",
    "ipam.routes[1].dst",
    "runtimeConfig",
  ]);
});

Deno.test("before 0.3.0 there is room for one address per family", () => {
  const ranges = [[{ subnet: "10.0.0.0/24" }], [{ subnet: "10.1.0.0/24" }]];
  assertThrows(() => read({ ipam: { ranges } }, "", "0.2.0"), ConfigError, "one IPv4 address");
  assertEquals(read({ ipam: { ranges } }, "", "0.3.0").sets.length, 2);
  const dual = { ranges: [[{ subnet: "10.0.0.0/24" }], [{ subnet: "fd00::/64" }]] };
  assertEquals(read({ ipam: dual }, "", "0.1.0").sets.length, 2);
});

Deno.test("the cooldown can be read whatever else is wrong, and itself too", () => {
  assertEquals(readCooldownMs({ ipam: { ranges: "x", cooldown: "5s" } }), 5000);
  assertEquals(readCooldownMs({ ipam: { cooldown: "x" } }), 30_000);
  assertEquals(readCooldownMs({ ipam: 7 }), 30_000);
  assertEquals(readCooldownMs({}), 30_000);
});

Deno.test("ipam.dataDir is stronger than dataDir, that than the environment", () => {
  const env = () => "/env";
  assertEquals(configuredDirectory({ ipam: { dataDir: "/a" }, dataDir: "/b" }, env), "/a");
  assertEquals(configuredDirectory({ ipam: {}, dataDir: "/b" }, env), "/b");
  assertEquals(configuredDirectory({}, env), "/env");
});
