/** The compiled program as a container runtime calls it. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { PROGRAM, run, temporaryDirectory } from "./program.ts";

const SUPPORTED = ["0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"];

Deno.test("CNI_COMMAND=VERSION prints the supported versions and nothing else", async () => {
  const { code, stdout, stderr } = await run([], { env: { CNI_COMMAND: "VERSION" } });
  assertEquals(code, 0);
  assertEquals(JSON.parse(stdout), { cniVersion: "1.1.0", supportedVersions: SUPPORTED });
  assertEquals(stderr, "");
});

for (const value of ["", "NONSENSE", "version", "__proto__", "ADD\nVERSION"]) {
  Deno.test(`CNI_COMMAND=${JSON.stringify(value)} is answered with a CNI error object`, async () => {
    const { code, stdout } = await run([], { env: { CNI_COMMAND: value } });
    const error = JSON.parse(stdout);
    assertEquals([code, error.code, error.cniVersion], [1, 4, "1.1.0"]);
    assertStringIncludes(error.msg, "CNI_COMMAND");
  });
}

Deno.test("CNI_COMMAND is stronger than any argument", async () => {
  const { stdout } = await run(["--help"], { env: { CNI_COMMAND: "VERSION" } });
  assertEquals(JSON.parse(stdout).supportedVersions, SUPPORTED);
});

Deno.test("called as headcni-ipam the program is the IPAM plugin", async () => {
  await using directory = temporaryDirectory();
  const program = `${directory.path}/headcni-ipam`;
  await Deno.symlink(PROGRAM, program);

  // By a shell: Deno.Command follows the link before it executes the program.
  const call = (env = {}) => run(["-c", 'exec "$0"', program], { program: "/bin/sh", env });
  const about = await call();
  assertEquals([about.code, about.stdout], [0, ""]);
  assertStringIncludes(about.stderr, "headcni-ipam, a CNI IPAM plugin");
  assertStringIncludes(about.stderr, SUPPORTED.join(", "));

  const version = await call({ CNI_COMMAND: "VERSION" });
  assertEquals(JSON.parse(version.stdout).supportedVersions, SUPPORTED);
});

Deno.test("a caller that closes our standard output early causes no crash report", async () => {
  const shell = `"$0" version --json | head -c 1; exit "\${PIPESTATUS[0]}"`;
  const { code, stderr } = await run(["-c", shell, PROGRAM], { program: "/bin/bash" });
  assertEquals([code, stderr], [0, ""]);
});

Deno.test("VERSION does not wait for a standard input that stays open", async () => {
  const child = new Deno.Command(PROGRAM, {
    clearEnv: true,
    env: { CNI_COMMAND: "VERSION" },
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const text = await new Response(child.stdout).text();
  assertEquals(JSON.parse(text).supportedVersions, SUPPORTED);
  assertEquals((await child.status).code, 0);
  await child.stdin.close();
});
