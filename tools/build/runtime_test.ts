import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { BuildError } from "./build_error.ts";
import { sha256Hex } from "./hash.ts";
import { type RuntimePin } from "./pins.ts";
import { findRuntime, type RuntimeSources, verifyRuntime } from "./runtime.ts";

const TARGET = "x86_64-unknown-linux-gnu";

const PIN: RuntimePin = {
  bytes: 3,
  sha256: "00",
  npm: { package: "p", version: "1.0.0", file: "package/p", integrity: "sha512-" },
};

/** Sources that have everything; each test takes something away. */
function sources(changes: Partial<RuntimeSources> = {}): RuntimeSources {
  return {
    denortBin: undefined,
    isFile: () => true,
    officialAvailable: () => Promise.resolve(true),
    fromNpm: () => Promise.resolve("/cache/denort"),
    ...changes,
  };
}

Deno.test("findRuntime() takes DENORT_BIN before anything else", async () => {
  const runtime = await findRuntime(TARGET, PIN, { sources: sources({ denortBin: "/my/denort" }) });
  assertEquals(runtime, { origin: "DENORT_BIN", path: "/my/denort" });
});

Deno.test("findRuntime() stops when DENORT_BIN names no file", async () => {
  const missing = sources({ denortBin: "/my/denort", isFile: () => false });
  const error = await assertRejects(
    () => findRuntime(TARGET, PIN, { sources: missing }),
    BuildError,
  );
  assertEquals(error.message, "Cannot use DENORT_BIN=/my/denort: there is no such file");
});

Deno.test("findRuntime() prefers Deno's own download to npm", async () => {
  const runtime = await findRuntime(TARGET, PIN, { sources: sources() });
  assertEquals(runtime, { origin: "official", path: undefined });
});

Deno.test("findRuntime() falls back to npm", async () => {
  const offline = sources({ officialAvailable: () => Promise.resolve(false) });
  const runtime = await findRuntime(TARGET, PIN, { sources: offline });
  assertEquals(runtime, { origin: "npm", path: "/cache/denort" });
});

Deno.test("findRuntime() with official never falls back", async () => {
  const offline = sources({ officialAvailable: () => Promise.resolve(false) });
  await assertRejects(
    () => findRuntime(TARGET, PIN, { source: "official", sources: offline }),
    BuildError,
    "Deno's download site did not answer",
  );
});

Deno.test("findRuntime() says so when a target has no pin and Deno's site is away", async () => {
  const offline = sources({ officialAvailable: () => Promise.resolve(false) });
  const error = await assertRejects(
    () => findRuntime("aarch64-apple-darwin", undefined, { sources: offline }),
    BuildError,
  );
  assertStringIncludes(error.message, "none is pinned on npm for this target");
  assertStringIncludes(error.remedy, "DENORT_BIN");
});

Deno.test("verifyRuntime() compares the runtime inside the program, not the program", async () => {
  const runtime = await Deno.readFile("/bin/true");
  const program = new Uint8Array([...runtime, ...new TextEncoder().encode("appended")]);
  const pin = { ...PIN, sha256: await sha256Hex(runtime) };
  await verifyRuntime(program, pin, { origin: "npm", path: "/x" });
  await assertRejects(
    () => verifyRuntime(program, PIN, { origin: "official", path: undefined }),
    BuildError,
    "Cannot trust the compile runtime (official)",
  );
});
