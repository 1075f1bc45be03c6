import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { type Release, renderBom } from "./bom.ts";

const RELEASE: Release = {
  version: "0.1.0",
  commit: "0123456789ab",
  target: "x86_64-unknown-linux-gnu",
  sha256: "ab".repeat(32),
  denoVersion: "2.5.7",
  libmnl: { version: "1:1.0.4-3", architecture: "amd64" },
  timestamp: "2026-01-02T03:04:05.000Z",
  npm: {
    direct: ["@kubernetes/client-node@1.4.0", "left-pad@1.3.0"],
    packages: [
      {
        name: "@kubernetes/client-node",
        version: "1.4.0",
        sha512: "cd".repeat(64),
        dependencies: ["left-pad@1.3.0"],
      },
      { name: "left-pad", version: "1.3.0", sha512: "ef".repeat(64), dependencies: [] },
    ],
  },
};

Deno.test("renderBom() names the program, its hash and where it came from", async () => {
  const bom = JSON.parse(await renderBom(RELEASE));
  assertEquals([bom.bomFormat, bom.specVersion, bom.version], ["CycloneDX", "1.6", 1]);
  assertEquals(bom.metadata, {
    timestamp: "2026-01-02T03:04:05.000Z",
    component: {
      type: "application",
      "bom-ref": "headcni@0.1.0",
      name: "headcni",
      version: "0.1.0",
      purl: "pkg:generic/headcni@0.1.0",
      licenses: [{ license: { id: "Apache-2.0" } }],
      hashes: [{ alg: "SHA-256", content: "ab".repeat(32) }],
    },
    properties: [
      { name: "headcni:commit", value: "0123456789ab" },
      { name: "headcni:target", value: "x86_64-unknown-linux-gnu" },
    ],
  });
});

Deno.test("renderBom() lists the runtime, libmnl and npm packages with purl and hash", async () => {
  const { components } = JSON.parse(await renderBom(RELEASE));
  assertEquals(components.map(({ purl }: { purl: string }) => purl), [
    "pkg:github/denoland/deno@v2.5.7",
    "pkg:deb/debian/libmnl0@1%3A1.0.4-3?arch=amd64",
    "pkg:npm/%40kubernetes/client-node@1.4.0",
    "pkg:npm/left-pad@1.3.0",
  ]);
  assertEquals(components[2], {
    type: "library",
    "bom-ref": "pkg:npm/%40kubernetes/client-node@1.4.0",
    group: "@kubernetes",
    name: "client-node",
    version: "1.4.0",
    purl: "pkg:npm/%40kubernetes/client-node@1.4.0",
    licenses: [{ license: { id: "Apache-2.0" } }],
    hashes: [{ alg: "SHA-512", content: "cd".repeat(64) }],
  });
  assertEquals(components[1].licenses, [{ license: { id: "LGPL-2.1-or-later" } }]);
  assertEquals(components[3].licenses, undefined);
});

Deno.test("renderBom() connects every part, each reference once and known", async () => {
  const { components, dependencies } = JSON.parse(await renderBom(RELEASE));
  const parts: string[] = components.map((part: { "bom-ref": string }) => part["bom-ref"]);
  const refs = new Set(["headcni@0.1.0", ...parts]);
  assertEquals(refs.size, parts.length + 1);
  assertEquals(dependencies[0].ref, "headcni@0.1.0");
  assertEquals(dependencies[0].dependsOn, parts);
  for (const { ref, dependsOn } of dependencies) {
    assert(refs.has(ref), ref);
    for (const used of dependsOn) assert(refs.has(used), used);
  }
});

Deno.test("renderBom() leaves out libmnl and the time where there is none", async () => {
  const bom = JSON.parse(await renderBom({ ...RELEASE, libmnl: undefined, timestamp: undefined }));
  assertEquals(bom.metadata.timestamp, undefined);
  assertEquals(JSON.stringify(bom).includes("libmnl"), false);
});

Deno.test("renderBom() gives the same bytes for the same release, another serial for another", async () => {
  const text = await renderBom(RELEASE);
  assertEquals(await renderBom(structuredClone(RELEASE)), text);
  const { serialNumber } = JSON.parse(text);
  assertMatch(
    serialNumber,
    /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
  );
  const other = JSON.parse(await renderBom({ ...RELEASE, commit: "another" }));
  assertNotEquals(other.serialNumber, serialNumber);
});
