import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { ResultError } from "./errors.ts";
import { type CniResult } from "./result.ts";
import { decodeResult } from "./result_decode.ts";
import { encodeResult } from "./result_encode.ts";
import { SUPPORTED_VERSIONS } from "./version.ts";

const RESULT: CniResult = {
  interfaces: [
    { name: "hcni1", mac: "02:00:00:00:00:01", mtu: 1280 },
    { name: "eth0", mac: "02:00:00:00:00:02", sandbox: "/run/netns/blue" },
  ],
  ips: [
    { address: "10.1.2.3/24", gateway: "10.1.2.1", interface: 1 },
    { address: "fd00::3/64", gateway: "fd00::1", interface: 1 },
  ],
  routes: [
    { dst: "0.0.0.0/0", gw: "10.1.2.1", table: 0, mtu: 1400 },
    { dst: "::/0", scope: 0 },
  ],
  dns: { nameservers: ["10.96.0.10"], search: ["svc.cluster.local"] },
};

Deno.test("encodeResult() writes 1.0.0 and 1.1.0 with everything, zeros included", () => {
  assertEquals(encodeResult(RESULT, "1.1.0"), { cniVersion: "1.1.0", ...RESULT });
});

Deno.test("encodeResult() writes 0.3.0 to 0.4.0 with the family of each address", () => {
  assertEquals(encodeResult(RESULT, "0.4.0"), {
    cniVersion: "0.4.0",
    interfaces: [
      { name: "hcni1", mac: "02:00:00:00:00:01" },
      { name: "eth0", mac: "02:00:00:00:00:02", sandbox: "/run/netns/blue" },
    ],
    ips: [{ version: "4", ...RESULT.ips[0] }, { version: "6", ...RESULT.ips[1] }],
    routes: RESULT.routes,
    dns: RESULT.dns,
  });
});

Deno.test("encodeResult() writes 0.1.0 and 0.2.0 with one address of each family", () => {
  assertEquals(encodeResult(RESULT, "0.2.0"), {
    cniVersion: "0.2.0",
    ip4: { ip: "10.1.2.3/24", gateway: "10.1.2.1", routes: [{ dst: "0.0.0.0/0", gw: "10.1.2.1" }] },
    ip6: { ip: "fd00::3/64", gateway: "fd00::1", routes: [{ dst: "::/0" }] },
    dns: RESULT.dns,
  });
});

Deno.test("encodeResult() cannot say a result without addresses before 0.3.0", () => {
  const empty = { ...RESULT, ips: [] };
  assertThrows(() => encodeResult(empty, "0.1.0"), ResultError, "it has no address");
  encodeResult(empty, "0.3.0");
});

Deno.test("encodeResult() leaves out an empty dns since 1.0.0 and keeps it before", () => {
  const plain = { ...RESULT, dns: {} };
  assertEquals("dns" in encodeResult(plain, "1.0.0"), false);
  assertEquals(encodeResult(plain, "0.4.0").dns, {});
});

for (const version of SUPPORTED_VERSIONS) {
  Deno.test(`a result of version ${version} survives being read and written again`, () => {
    const written = encodeResult(RESULT, version);
    assertEquals(encodeResult(decodeResult(written, { version }), version), written);
  });
}

Deno.test("decodeResult() takes the caller's version for a result without one", () => {
  const old = { ip4: { ip: "10.1.2.3/24" } };
  assertEquals(decodeResult(old, { version: "0.2.0" }).ips, [{ address: "10.1.2.3/24" }]);
  assertEquals(decodeResult(old, { version: "1.0.0" }).ips, []);
});

Deno.test("decodeResult() takes null, and nulls inside, for nothing", () => {
  const nothing = { interfaces: [], ips: [], routes: [], dns: {} };
  assertEquals(decodeResult(null, { version: "1.0.0" }), nothing);
  const nulls = { cniVersion: "1.0.0", interfaces: null, ips: null, routes: null, dns: null };
  assertEquals(decodeResult(nulls, { version: "1.0.0" }), nothing);
});

/** Results nobody can read, and what must be said of them. */
const UNREADABLE: readonly [value: unknown, says: string][] = [
  ["text", "it is no object"],
  [{ cniVersion: "9.0.0" }, "9.0.0 is not known"],
  [{ ips: {} }, "ips is no list"],
  [{ ips: [{ address: 5 }] }, "address is 5"],
  [{ ips: [{}] }, "address is missing"],
  [{ ips: [{ address: "10.0.0.1/8", interface: 0 }] }, "on interface 0, there are 0"],
  [{ interfaces: [{ name: "a" }], ips: [{ address: "x", interface: 1 }] }, "on interface 1"],
  [{ routes: [{ dst: "0.0.0.0/0", mtu: "1" }] }, "mtu is"],
  [{ dns: { nameservers: [1] } }, "nameservers is no list of texts"],
];

for (const [value, says] of UNREADABLE) {
  Deno.test(`decodeResult() says of ${JSON.stringify(value)}: ${says}`, () => {
    const error = assertThrows(
      () => decodeResult(value, { version: "1.0.0", where: "prevResult" }),
      ResultError,
    );
    assertStringIncludes(error.message, "Cannot read prevResult: ");
    assertStringIncludes(error.message, says);
  });
}
