import { assertEquals, assertStringIncludes } from "@std/assert";
import { plantTree, runTool } from "./check/testing.ts";

async function lockHash(): Promise<string> {
  const bytes = await Deno.readFile(new URL("../deno.lock", import.meta.url));
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

async function plantBuild(lock: string) {
  const info = { version: "1.2.3", commit: "abc", target: "x86_64-apple-darwin", lockHash: lock };
  return await plantTree({ headcni: "program", "info.json": JSON.stringify(info) });
}

Deno.test("tools/sbom.ts describes a built program, twice the same", async () => {
  await using build = await plantBuild(await lockHash());
  const args = ["--program", `${build.root}/headcni`, "--build-info", `${build.root}/info.json`];
  const run = () => runTool("sbom.ts", [...args, "--libmnl", "1.0.4-3:arm64"]);
  const { code, stdout, stderr } = await run();
  assertEquals({ code, stderr }, { code: 0, stderr: "" });
  const { metadata, components } = JSON.parse(stdout);
  assertEquals(metadata.component.version, "1.2.3");
  assertEquals(metadata.component.hashes, [{
    alg: "SHA-256",
    content: "1310ca2c8932dbd118668bd97442558a3e1f546b5e15c69699dfbd6024f548d8",
  }]);
  assertEquals(components[0].version, Deno.version.deno);
  assertEquals(components[1].purl, "pkg:deb/debian/libmnl0@1.0.4-3?arch=arm64");
  assertEquals((await run()).stdout, stdout);
});

Deno.test("tools/sbom.ts refuses a program that was built with another lock file", async () => {
  await using build = await plantBuild("00");
  const { code, stdout, stderr } = await runTool("sbom.ts", [
    "--program",
    `${build.root}/headcni`,
    "--build-info",
    `${build.root}/info.json`,
  ]);
  assertEquals({ code, stdout }, { code: 1, stdout: "" });
  assertStringIncludes(stderr, "sbom: Cannot list the parts: the program was built with another");
});

Deno.test("tools/sbom.ts says how it is called when an option is missing or wrong", async () => {
  await using build = await plantBuild(await lockHash());
  const args = ["--program", `${build.root}/headcni`, "--build-info", `${build.root}/info.json`];
  for (const wrong of [[], args.slice(0, 2), [...args, "--libmnl", "1.0.4"]]) {
    const { code, stderr } = await runTool("sbom.ts", wrong);
    assertEquals(code, 1, stderr);
    assertStringIncludes(stderr, "Usage: tools/sbom.ts --program FILE");
  }
});
