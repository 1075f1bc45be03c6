import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { MemoryFiles } from "../../sys/testing.ts";
import { toCniError } from "../error_code.ts";
import { SubnetFileError } from "../errors.ts";
import { FLANNEL_SUBNET_FILE, parseSubnet, readSubnet, SUBNET_FILE } from "./subnet_file.ts";

const TEXT = [
  "HEADCNI_NETWORK=10.1.0.0/16,10.2.0.0/16",
  "HEADCNI_SUBNET=10.1.17.1/24",
  "HEADCNI_IPV6_NETWORK=fd01::/48",
  "HEADCNI_IPV6_SUBNET=fd01:0:0:17::1/64",
  "HEADCNI_MTU=1400",
  "HEADCNI_IPMASQ=true",
].join("\n");

/** What it says, as texts. */
function shown(text: string, env: Readonly<Record<string, string>> = {}) {
  const { networks, subnets, ...rest } = parseSubnet(text, { env: (name) => env[name] });
  return { networks: networks.join(), subnets: subnets.join(), ...rest };
}

const SHOWN = {
  networks: "10.1.0.0/16,10.2.0.0/16,fd01::/48",
  subnets: "10.1.17.0/24,fd01:0:0:17::/64",
  mtu: 1400,
  ipMasq: true,
};

Deno.test("parseSubnet() masks the gateway's form and keeps the order of families", () => {
  assertEquals(shown(TEXT), SHOWN);
});

Deno.test("parseSubnet() reads flannel's names, comments, exports and quotes", () => {
  assertEquals(shown(TEXT.replaceAll("HEADCNI_", "FLANNEL_")), SHOWN);
  const dressed = TEXT.split("\n").map((line) => ` export ${line.replace("=", ' = "')}"\r`);
  assertEquals(shown(["# by hand", "", "OTHER", ...dressed].join("\n")), SHOWN);
});

Deno.test("parseSubnet(): our name is stronger than flannel's, the environment than both", () => {
  const both = `${TEXT}\nFLANNEL_MTU=1450\nFLANNEL_IPMASQ=false`;
  assertEquals(shown(both), SHOWN);
  assertEquals(shown(both, { HEADCNI_MTU: "1300", HEADCNI_SUBNET: "" }), { ...SHOWN, mtu: 1300 });
});

Deno.test("parseSubnet() tells all that is wrong at once", () => {
  const text = [
    "HEADCNI_NETWORK=10.1.0.0/16,fd01::/48,what",
    "HEADCNI_SUBNET=10.1.0.0/24,10.2.0.0/24",
    "HEADCNI_MTU=40",
    "HEADCNI_IPMASQ=yes",
    "HEADCNI_IPV6_SUBNET",
  ].join("\n");
  const error = assertThrows(() => parseSubnet(text), SubnetFileError);
  assertEquals(error.problems.length, 6, error.message);
  for (const key of ["NETWORK: fd01::/48 is not of IPv4", "line 5", "MTU is", "IPMASQ is"]) {
    assertStringIncludes(error.message, key);
  }
  const empty = assertThrows(() => parseSubnet(""), SubnetFileError);
  assertEquals(empty.problems.length, 4);
  assertEquals(toCniError(empty).code, 7);
});

Deno.test("parseSubnet() wants room for IPv6 where there is IPv6", () => {
  assertThrows(() => shown(TEXT, { HEADCNI_MTU: "1279" }), SubnetFileError, "1280");
});

Deno.test("readSubnet() takes the configured file, then the environment's, then the default", () => {
  const file = (mtu: number) => TEXT.replace("1400", `${mtu}`);
  const files = new MemoryFiles({
    "/configured": file(1301),
    "/environment": file(1302),
    [SUBNET_FILE]: file(1303),
    [FLANNEL_SUBNET_FILE]: file(1304),
  });
  const env = (name: string) => name === "HEADCNI_SUBNET_FILE" ? "/environment" : undefined;
  const none = () => undefined;
  assertEquals(readSubnet("/configured", { env, files }).mtu, 1301);
  assertEquals(readSubnet(undefined, { env, files }).mtu, 1302);
  assertEquals(readSubnet(undefined, { env: none, files }).mtu, 1303);
  files.remove(SUBNET_FILE);
  assertEquals(readSubnet(undefined, { env: none, files }).mtu, 1304);
});

Deno.test("readSubnet() without a file: try again later, unless the environment says all", () => {
  const files = new MemoryFiles();
  const error = assertThrows(
    () => readSubnet("/run/x.env", { env: () => undefined, files }),
    SubnetFileError,
    "Cannot use subnet file /run/x.env: it does not exist",
  );
  assertEquals(toCniError(error).code, 11);
  const values = new Map(TEXT.split("\n").map((line) => line.split("=") as [string, string]));
  assertEquals(readSubnet(undefined, { env: (name) => values.get(name), files }).mtu, 1400);
  values.delete("HEADCNI_IPMASQ");
  assertThrows(
    () => readSubnet(undefined, { env: (name) => values.get(name), files }),
    Error,
    "IPMASQ",
  );
});
