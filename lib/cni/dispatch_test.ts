import { assertEquals, assertStringIncludes } from "@std/assert";
import { HeadcniError } from "../sys/errors.ts";
import { dispatch, type VerbTable } from "./dispatch.ts";

/** Runs a call with CNI_COMMAND set to `command`; returns exit code and standard output. */
function call(verbs: VerbTable, command: string): { code: number; stdout: string } {
  let stdout = "";
  const code = dispatch(verbs, {
    env: (name) => name === "CNI_COMMAND" ? command : undefined,
    stdout: { write: (text) => stdout += text },
    stderr: { write: () => {} },
  });
  return { code, stdout };
}

Deno.test("dispatch() prints what the verb returns as one JSON value", () => {
  assertEquals(call({ ADD: () => ({ ips: [] }) }, "ADD"), { code: 0, stdout: '{"ips":[]}\n' });
});

Deno.test("dispatch() prints nothing for a verb without a result", () => {
  assertEquals(call({ DEL: () => undefined }, "DEL"), { code: 0, stdout: "" });
});

Deno.test("dispatch() tells an unknown command what it knows", () => {
  const { code, stdout } = call({ ADD: () => 1, DEL: () => 1 }, "BOGUS");
  assertEquals([code, JSON.parse(stdout).code], [1, 4]);
  assertStringIncludes(
    JSON.parse(stdout).msg,
    "unknown CNI_COMMAND: BOGUS; this build knows ADD, DEL",
  );
});

Deno.test("dispatch() takes only its own verbs, not what every object has", () => {
  for (const command of ["toString", "constructor", "__proto__"]) {
    assertEquals(JSON.parse(call({ ADD: () => 1 }, command).stdout).code, 4);
  }
});

Deno.test("dispatch() renders an expected failure with causes and remedy in details", () => {
  const fail = () => {
    throw new HeadcniError({
      operation: "open store",
      subject: "/var/lib/cni/headcni",
      reason: "no space",
      remedy: "Free some room",
      cause: new Error("ENOSPC"),
    });
  };
  const { code, stdout } = call({ ADD: fail }, "ADD");
  assertEquals(code, 1);
  assertEquals(JSON.parse(stdout), {
    cniVersion: "1.1.0",
    code: 999,
    msg: "Cannot open store /var/lib/cni/headcni: no space",
    details: "ENOSPC; Free some room",
  });
});

Deno.test("dispatch() survives a verb that throws something that is no error", () => {
  const fail = () => {
    // deno-lint-ignore no-throw-literal -- a library might
    throw "oops";
  };
  assertEquals(JSON.parse(call({ ADD: fail }, "ADD").stdout).msg, "oops");
});
