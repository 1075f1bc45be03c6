import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { licenseOf } from "./licenses.ts";
import { LockFileError, parseLockFile } from "./lock_file.ts";

/** 64 bytes of `byte`, as npm writes a SHA-512. */
function integrity(byte: number): string {
  return `sha512-${new Uint8Array(64).fill(byte).toBase64()}`;
}

const LOCK = {
  version: "5",
  specifiers: {
    "npm:@scope/a@1": "1.0.0_b@2.0.0",
    "npm:b@2.0.0": "2.0.0",
    "jsr:@std/assert@1": "1.0.0",
  },
  npm: {
    "b@2.0.0": { integrity: integrity(2), dependencies: ["c@3.0.0"] },
    "@scope/a@1.0.0_b@2.0.0": { integrity: integrity(1), dependencies: ["b"] },
    "@scope/a@1.0.0_b@2.0.0_c@4.0.0": { integrity: integrity(1), dependencies: ["b", "c@4.0.0"] },
    "c@3.0.0": { integrity: integrity(3) },
    "c@4.0.0": { integrity: integrity(4) },
  },
};

Deno.test("parseLockFile() lists each package once, sorted, with what it uses", () => {
  const { packages } = parseLockFile(JSON.stringify(LOCK));
  assertEquals(packages.map(({ name, version, dependencies }) => [name, version, dependencies]), [
    ["@scope/a", "1.0.0", ["b@2.0.0", "c@4.0.0"]],
    ["b", "2.0.0", ["c@3.0.0"]],
    ["c", "3.0.0", []],
    ["c", "4.0.0", []],
  ]);
  assertEquals(packages[1]?.sha512, "02".repeat(64));
});

Deno.test("parseLockFile() tells which npm packages the program asks for itself", () => {
  assertEquals(parseLockFile(JSON.stringify(LOCK)).direct, ["@scope/a@1.0.0", "b@2.0.0"]);
});

Deno.test("parseLockFile() refuses what it does not know", () => {
  const cases: Readonly<Record<string, unknown>> = {
    'its version is "4"': { ...LOCK, version: "4" },
    '"x@1.0.0" has no sha512 integrity': { version: "5", npm: { "x@1.0.0": {} } },
    '"y@1.0.0" has no sha512 integrity': {
      version: "5",
      npm: { "y@1.0.0": { integrity: "sha1-AAAA" } },
    },
    '"gone" is used but not locked': {
      version: "5",
      npm: { "x@1.0.0": { integrity: integrity(1), dependencies: ["gone"] } },
    },
  };
  for (const [message, lock] of Object.entries(cases)) {
    assertThrows(() => parseLockFile(JSON.stringify(lock)), LockFileError, message);
  }
});

Deno.test("deno.lock can be read, and the licence of every package in it is known", async () => {
  const text = await Deno.readTextFile(new URL("../../deno.lock", import.meta.url));
  const { packages, direct } = parseLockFile(text);
  const ids = packages.map(({ name, version }) => `${name}@${version}`);
  assertEquals(direct.filter((id) => !ids.includes(id)), []);
  for (const { sha512 } of packages) assertMatch(sha512, /^[0-9a-f]{128}$/);
  const unknown = packages.map(({ name }) => name).filter((name) => licenseOf(name) === undefined);
  assertEquals(unknown, [], "Look up these licences and add them to tools/sbom/licenses.ts");
});
