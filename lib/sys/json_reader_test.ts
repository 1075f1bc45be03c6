import { assertEquals, assertThrows } from "@std/assert";
import { ConfigError } from "./config_error.ts";
import { JsonReader } from "./json_reader.ts";

Deno.test("JsonReader tells everything that is wrong, with paths", () => {
  const reader = new JsonReader({
    mtu: 1.5,
    mode: "hots",
    ipam: { subnet: 7, ranges: [{ gateway: "x" }, "y"] },
    dns: [],
    names: ["a", 3],
  });
  reader.integer("mtu", { min: 0, max: 9000 });
  reader.choice("mode", ["host", "daemon"]);
  const ipam = reader.object("ipam");
  ipam?.string("subnet");
  ipam?.objects("ranges")?.[0]?.parsed("gateway", () => {
    throw new Error("Cannot parse address");
  });
  reader.object("dns");
  reader.strings("names");
  const error = assertThrows(() => reader.finish(), ConfigError);
  assertEquals(error.problems.map(({ key, problem }) => `${key} ${problem}`), [
    "mtu is 1.5 instead of a whole number",
    'mode is "hots" instead of one of host, daemon',
    "ipam.subnet is 7 instead of a text",
    'ipam.ranges[1] is "y" instead of an object',
    "ipam.ranges[0].gateway is wrong: Cannot parse address",
    "dns is [] instead of an object",
    "names[1] is 3 instead of a text",
  ]);
});

Deno.test("JsonReader takes null for absent and does not see inherited keys", () => {
  const reader = new JsonReader({ mtu: null });
  assertEquals(reader.integer("mtu", { min: 0, max: 1 }), undefined);
  assertEquals(reader.value("toString"), undefined);
  reader.finish();
});

Deno.test("JsonReader compares keys without case where Go programs wrote them", () => {
  const reader = new JsonReader({ runtimeConfig: { PortMappings: [{ HostPort: 80 }] } });
  const port = reader.object("runtimeConfig", { ignoreCase: true })?.objects("portMappings")?.[0]
    ?.integer("hostPort", { min: 1, max: 65535 });
  assertEquals(port, 80);
  assertEquals(new JsonReader({ MTU: 1 }).value("mtu"), undefined);
});

Deno.test("JsonReader prefers the exact key to one of another case", () => {
  const reader = new JsonReader({ IPS: 1, ips: 2 }, { ignoreCase: true });
  assertEquals(reader.value("ips"), 2);
});
