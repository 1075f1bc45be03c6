import { assertEquals, assertRejects } from "@std/assert";
import { type RunOptions, type RunResult } from "../sys/process.ts";
import { toCniError } from "./error_code.ts";
import { DelegateError } from "./errors.ts";
import { delegate, delegateAdd, type Delegation } from "./ipam_delegate.ts";

const DELEGATION: Delegation = {
  type: "other",
  path: ["/opt/a", "/opt/b"],
  env: { CNI_CONTAINERID: "c1" },
  config: { cniVersion: "1.0.0", name: "net", ipam: { type: "other" } },
  version: "1.0.0",
};

/** Ports on which every run ends with what `answer` says; `calls` are the verbs asked for. */
function ports(answer: (command: string) => Partial<RunResult>) {
  const calls: string[] = [];
  const inputs: unknown[] = [];
  const stat = (path: string) =>
    path === "/opt/b/other"
      ? { kind: "file", size: 1, mode: 0o755, uid: 0, gid: 0, modifiedMs: 0 } as const
      : undefined;
  const run = (program: string, _args: readonly string[], options: RunOptions = {}) => {
    const command = options.env?.CNI_COMMAND ?? "";
    calls.push(`${command} ${program}`);
    inputs.push(JSON.parse(String(options.stdin)));
    const silent = { code: 0, signal: undefined, stdout: "", stderr: "", durationMs: 1 };
    return Promise.resolve({ ...silent, ...answer(command) });
  };
  return { calls, inputs, run, files: { stat } };
}

Deno.test("delegateAdd() passes the configuration on and reads the result", async () => {
  const fake = ports(() => ({ stdout: '{"cniVersion":"0.2.0","ip4":{"ip":"10.0.0.2/24"}}' }));
  const result = await delegateAdd(DELEGATION, fake);
  assertEquals(result.ips, [{ address: "10.0.0.2/24" }]);
  assertEquals([fake.calls, fake.inputs], [["ADD /opt/b/other"], [DELEGATION.config]]);
});

Deno.test("delegateAdd() calls DEL after a failure and gives the plugin's own error", async () => {
  const fake = ports((command) =>
    command === "ADD" ? { code: 1, stdout: '{"code":11,"msg":"later","details":"busy"}' } : {}
  );
  const error = await assertRejects(() => delegateAdd(DELEGATION, fake), DelegateError);
  assertEquals(fake.calls, ["ADD /opt/b/other", "DEL /opt/b/other"]);
  assertEquals(toCniError(error, "1.0.0"), {
    cniVersion: "1.0.0",
    code: 11,
    msg: "Cannot use plugin other: later",
    details: "busy",
  });
});

Deno.test("delegate() tells what a plugin said that printed no error object", async () => {
  const cases: [Partial<RunResult>, string][] = [
    [{ code: 2, stderr: "panic:\n  boom" }, "it ended with status 2: panic: boom"],
    [{ code: 1, stdout: "garbage" }, "it ended with status 1: garbage"],
    [{ code: 137 }, "it ended with status 137: it printed nothing"],
  ];
  for (const [ending, reason] of cases) {
    const call = () => delegate("CHECK", DELEGATION, ports(() => ending));
    assertEquals((await assertRejects(call, DelegateError)).reason, reason);
  }
});

Deno.test("delegateAdd() refuses a result that is no JSON, and an empty one", async () => {
  for (const stdout of ["", "hello {"]) {
    await assertRejects(() => delegateAdd(DELEGATION, ports(() => ({ stdout }))), DelegateError);
  }
});
