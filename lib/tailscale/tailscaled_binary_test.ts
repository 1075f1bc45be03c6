import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import type { Run } from "../sys/process.ts";
import { temporaryDirectory } from "../sys/testing.ts";
import { TailscaledError } from "./errors.ts";
import { findTailscaled, inspectTailscaled } from "./tailscaled_binary.ts";

const USAGE = "Usage of tailscaled:\n  -encrypt-state\n    \tencrypt\n  -tun string\n    \tname\n";

/** A tailscaled that answers with `version`. */
function saying(version: string): Run {
  const ending = { code: 0, signal: undefined, durationMs: 1 };
  return (_command, [flag]) =>
    Promise.resolve(
      flag === "--help"
        ? { ...ending, stdout: "", stderr: USAGE }
        : { ...ending, stdout: version, stderr: "" },
    );
}

Deno.test("it is found where the configuration says, else in PATH", () => {
  using root = temporaryDirectory();
  const path = `${root.path}/tailscaled`;
  const missing = assertThrows(() => findTailscaled({ configured: path }), TailscaledError);
  assertEquals([missing.kind, missing.remedy?.includes("Install it")], ["NotFound", true]);
  Deno.writeTextFileSync(path, "", { mode: 0o644 });
  assertThrows(() => findTailscaled({ configured: path }), TailscaledError, "no such program");
  Deno.chmodSync(path, 0o755);
  assertEquals(findTailscaled({ configured: path }), path);
  assertEquals(findTailscaled({ searchPath: `.::/nowhere:${root.path}` }), path);
  assertThrows(() => findTailscaled({ configured: "tailscaled" }), TailscaledError, "absolute");
});

Deno.test("nothing anywhere says where was looked", () => {
  const files = { stat: () => undefined };
  assertThrows(() => findTailscaled({ files }), TailscaledError, "/usr/local/sbin");
});

Deno.test("version and flags are read; too old, or no tailscaled, is refused", async () => {
  const binary = await inspectTailscaled("/x", saying("1.102.3-t1\n  long version: …\n"));
  assertEquals([binary.version, [...binary.flags]], ["1.102.3", ["encrypt-state", "tun"]]);
  for (const [said, reason] of [["1.78.0\n", "1.80 is needed"], ["usage\n", "which version"]]) {
    const attempt = () => inspectTailscaled("/x", saying(said ?? ""));
    await assertRejects(attempt, TailscaledError, reason);
  }
  await assertRejects(() => inspectTailscaled("/nonexistent/tailscaled"), TailscaledError);
});
