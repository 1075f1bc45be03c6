import { assert, assertEquals, assertThrows } from "@std/assert";
import { parseAddress } from "../ip/address.ts";
import { type JsonObject } from "../sys/json_reader.ts";
import { ConfigError } from "../sys/config_error.ts";
import { parsePoolConfig, parsePoolDefinitions } from "./pool_config.ts";

function candidates(ipam: JsonObject, runtimeRanges?: unknown): string[] {
  return parsePoolConfig(ipam, runtimeRanges).sets.map((set) => set.candidates.join(" "));
}

Deno.test("a subnet alone is a pool without network, broadcast and gateway address", () => {
  assertEquals(candidates({ subnet: "10.0.0.0/24" }), ["10.0.0.2-10.0.0.254"]);
  assertEquals(candidates({ subnet: "fd00::/120" }), ["fd00::2-fd00::ff"]);
  assertEquals(candidates({ subnet: "10.0.0.0/24", gateway: "10.0.0.9" }), [
    "10.0.0.1-10.0.0.8 10.0.0.10-10.0.0.254",
  ]);
});

Deno.test("range ends that are network or broadcast address are cut off", () => {
  const ends = { rangeStart: "10.0.0.0", rangeEnd: "10.0.0.255" };
  assertEquals(candidates({ subnet: "10.0.0.0/24", ...ends }), ["10.0.0.2-10.0.0.254"]);
});

Deno.test("sets are ordered as host-local orders them: runtime, subnet, ranges", () => {
  const ipam = {
    subnet: "10.2.0.0/24",
    ranges: [[{ subnet: "10.3.0.0/24" }, { subnet: "10.4.0.0/24" }], [{ subnet: "fd00::/64" }]],
  };
  const sets = parsePoolConfig(ipam, [[{ Subnet: "10.1.0.0/24" }]]).sets;
  assertEquals(sets.map((set) => set.ranges.map(({ subnet }) => `${subnet}`)), [
    ["10.1.0.0/24"],
    ["10.2.0.0/24"],
    ["10.3.0.0/24", "10.4.0.0/24"],
    ["fd00::/64"],
  ]);
});

Deno.test("excluded addresses, ranges and prefixes are never offered", () => {
  const exclude = ["10.0.0.5", "10.0.0.8-10.0.0.9", "10.0.0.128/25"];
  assertEquals(candidates({ subnet: "10.0.0.0/24", exclude }), [
    "10.0.0.2-10.0.0.4 10.0.0.6-10.0.0.7 10.0.0.10-10.0.0.127",
  ]);
});

Deno.test("the gateway of one set is not offered by another", () => {
  const ranges = [
    [{ subnet: "10.0.0.0/24", rangeEnd: "10.0.0.99", gateway: "10.0.0.200" }],
    [{ subnet: "10.0.0.0/24", rangeStart: "10.0.0.100" }],
  ];
  const [, second] = parsePoolConfig({ ranges }).sets;
  assert(second !== undefined && !second.offers(parseAddress("10.0.0.200")));
});

Deno.test("cooldown is a number of seconds or a time with unit", () => {
  const cooldownMs = (cooldown?: unknown) =>
    parsePoolConfig({ subnet: "10.0.0.0/24", cooldown }).cooldownMs;
  assertEquals([undefined, 0, 5, "1.5s", "250ms", "2m", "1h"].map(cooldownMs), [
    30_000,
    0,
    5000,
    1500,
    250,
    120_000,
    3_600_000,
  ]);
  for (const wrong of ["soon", -1, "25h", {}, "1 s"]) {
    assertThrows(() => cooldownMs(wrong), ConfigError, "ipam.cooldown");
  }
});

Deno.test("what is wrong is told with its key", () => {
  const subnet = "10.0.0.0/24";
  const cases: [JsonObject, string][] = [
    [{}, "ipam.ranges is missing: there is no range"],
    [{ subnet: "x" }, 'ipam.subnet is wrong: Cannot parse prefix "x"'],
    [{ subnet: 5 }, "ipam.subnet is 5 instead of a text"],
    [{ ranges: {} }, "ipam.ranges is {} instead of a list"],
    [{ ranges: [{}] }, "ipam.ranges[0] is {} instead of a list with objects"],
    [{ ranges: [[]] }, "ipam.ranges[0] is [] instead of a list with objects"],
    [{ ranges: [["x"]] }, 'ipam.ranges[0][0] is "x" instead of an object'],
    [{ ranges: [[{}]] }, "ipam.ranges[0][0].subnet is missing"],
    [{ subnet: "10.0.0.0/31" }, "ipam.subnet is 10.0.0.0/31, too small"],
    [{ subnet, rangeStart: "10.0.1.0" }, "ipam.rangeStart is 10.0.1.0, which is not in subnet"],
    [{ subnet, rangeStart: "10.0.0.9", rangeEnd: "10.0.0.8" }, "10.0.0.9, which is after rangeEnd"],
    [{ subnet, rangeEnd: "10.0.0.0" }, "is after rangeEnd"],
    [{ subnet, gateway: "fd00::1" }, "ipam.gateway is fd00::1, which is of another family"],
    [{ subnet, exclude: [subnet] }, "ipam has no address left to give out"],
    [{ subnet, exclude: [7] }, "ipam.exclude[0] is 7"],
    [{ subnet, strategy: "lucky" }, 'is "lucky", none of sequential, random, dense-pack'],
    [{ subnet, ranges: [[{ subnet: "10.0.0.128/25" }]] }, "overlaps 10.0.0.1-10.0.0.254 of ipam"],
    [{ ranges: [[{ subnet }, { subnet: "fd00::/64" }]] }, "ipam.ranges[0][1] is of another family"],
  ];
  for (const [ipam, message] of cases) {
    assertThrows(() => parsePoolConfig(ipam), ConfigError, message);
  }
});

Deno.test("everything that is wrong is told at once", () => {
  const ipam = {
    ranges: [[{ subnet: "10.0.0.0/24", rangeStart: "x" }], [{ gateway: 7 }]],
    strategy: "lucky",
    cooldown: "soon",
    exclude: ["10.0.0.300"],
  };
  const { problems } = assertThrows(() => parsePoolConfig(ipam, {}), ConfigError);
  assertEquals(problems.map(({ key }) => key).sort(), [
    "ipam.cooldown",
    "ipam.exclude[0]",
    "ipam.ranges[0][0].rangeStart",
    "ipam.ranges[1][0].gateway",
    "ipam.ranges[1][0].subnet",
    "ipam.strategy",
    "runtimeConfig.ipRanges",
  ]);
});

Deno.test("definitions in the store make the same pools again", () => {
  const ipam = {
    ranges: [[{ subnet: "10.0.0.0/24", rangeStart: "10.0.0.9", gateway: "10.0.0.3" }]],
    exclude: ["10.0.0.12"],
  };
  const { sets, definitions } = parsePoolConfig(ipam);
  const again = parsePoolDefinitions(definitions);
  assertEquals(again.map((set) => `${set.candidates}`), sets.map((set) => `${set.candidates}`));
});
