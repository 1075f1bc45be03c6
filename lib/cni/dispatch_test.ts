import { assertEquals, assertStringIncludes } from "@std/assert";
import { HeadcniError } from "../sys/errors.ts";
import { dispatch, type PluginCall, type Verb, type VerbTable } from "./dispatch.ts";

const CONFIG = { cniVersion: "1.0.0", name: "net", type: "headcni" };

/** A table of one verb that exists in all versions. */
function table(command: string, verb: Verb): VerbTable {
  return { [command]: { since: "0.1.0", run: verb } };
}

interface Call {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: unknown;
}

/** Makes a call; returns exit code and standard output. */
async function call(
  verbs: VerbTable,
  command: string,
  { env = {}, stdin = CONFIG }: Call = {},
): Promise<{ code: number; stdout: string }> {
  let stdout = "";
  const code = await dispatch(verbs, {
    env: (name) => name === "CNI_COMMAND" ? command : env[name],
    readStdin() {
      if (stdin instanceof Error) throw stdin;
      return typeof stdin === "string" ? stdin : JSON.stringify(stdin);
    },
    stdout: { write: (text) => stdout += text },
    stderr: { write: () => {} },
  });
  return { code, stdout };
}

/** The error object of a call that must fail. */
async function failure(verbs: VerbTable, command: string, options: Call = {}) {
  const { code, stdout } = await call(verbs, command, options);
  assertEquals(code, 1);
  return JSON.parse(stdout);
}

Deno.test("dispatch() prints what the verb returns as one JSON value", async () => {
  const ending = await call(table("ADD", () => ({ ips: [] })), "ADD");
  assertEquals(ending, { code: 0, stdout: '{"ips":[]}\n' });
});

Deno.test("dispatch() prints nothing for a verb without a result", async () => {
  assertEquals(await call(table("DEL", () => undefined), "DEL"), { code: 0, stdout: "" });
});

Deno.test("dispatch() gives the verb the configuration and the version", async () => {
  let seen: PluginCall | undefined;
  await call(table("ADD", (given) => void (seen = given)), "ADD");
  assertEquals(seen?.version, "1.0.0");
  assertEquals(seen?.config.raw, CONFIG);
});

Deno.test("dispatch() tells an unknown command what it knows", async () => {
  const error = await failure(table("ADD", () => 1), "BOGUS");
  assertEquals(error.code, 4);
  assertStringIncludes(error.msg, "unknown CNI_COMMAND: BOGUS; this build knows ADD, VERSION");
});

Deno.test("dispatch() takes only its own verbs, not what every object has", async () => {
  for (const command of ["toString", "constructor", "__proto__"]) {
    assertEquals((await failure(table("ADD", () => 1), command)).code, 4);
  }
});

/** What comes on standard input, the code, and what the message must say. */
const INPUTS: readonly [title: string, stdin: unknown, code: number, says: string][] = [
  ["unreadable", new Error("EIO"), 5, "standard input"],
  ["empty", "", 6, "standard input is empty"],
  ["broken", "{", 6, "it is no JSON"],
  ["a list", "[]", 6, "no object"],
  ["null", "null", 6, "no object"],
  ["without a name", { cniVersion: "1.0.0" }, 7, "name is missing"],
  ["with a name that is a number", { name: 5 }, 7, "name is 5"],
  ["with a name that climbs", { name: "../etc" }, 7, 'name is "../etc"'],
  ["with a version that is a number", { cniVersion: 1, name: "net" }, 6, "cniVersion is 1"],
  ["of a later version", { cniVersion: "2.0.0", name: "net" }, 1, '"2.0.0"'],
];

for (const [title, stdin, code, says] of INPUTS) {
  Deno.test(`dispatch() answers standard input that is ${title} with code ${code}`, async () => {
    const error = await failure(table("ADD", () => 1), "ADD", { stdin });
    assertEquals(error.code, code);
    assertStringIncludes(error.msg, says);
  });
}

Deno.test("dispatch() takes a configuration without a version for 0.1.0", async () => {
  let version: string | undefined;
  const verbs = table("ADD", (given) => void (version = given.version));
  for (const stdin of [{ name: "net" }, { name: "net", cniVersion: "" }]) {
    assertEquals((await call(verbs, "ADD", { stdin })).code, 0);
    assertEquals(version, "0.1.0");
  }
});

Deno.test("dispatch() refuses a verb the caller's version does not have, in that version", async () => {
  const verbs: VerbTable = { GC: { since: "1.1.0", run: () => undefined } };
  const error = await failure(verbs, "GC");
  assertEquals([error.code, error.cniVersion], [1, "1.0.0"]);
  assertStringIncludes(error.msg, "since CNI version 1.1.0");
});

Deno.test("dispatch() renders an expected failure with causes and remedy in details", async () => {
  const error = await failure(
    table("ADD", () => {
      throw new HeadcniError({
        operation: "open store",
        subject: "/var/lib/cni/headcni",
        reason: "no space",
        remedy: "Free some room",
        cause: new Error("ENOSPC"),
      });
    }),
    "ADD",
  );
  assertEquals(error, {
    cniVersion: "1.0.0",
    code: 999,
    msg: "Cannot open store /var/lib/cni/headcni: no space",
    details: "ENOSPC; Free some room",
  });
});

Deno.test("dispatch() survives a verb that throws something that is no error", async () => {
  const verb = () => {
    // deno-lint-ignore no-throw-literal -- a library might
    throw "oops";
  };
  assertEquals((await failure(table("ADD", verb), "ADD")).msg, "oops");
});

for (const [command, limitMs] of [["STATUS", 900], ["DEL", 9_000], ["ADD", 28_000]] as const) {
  Deno.test(`dispatch() gives ${command} ${limitMs} ms and then asks to try again`, async () => {
    const asked: number[] = [];
    let stdout = "";
    const io = {
      env: (name: string) => name === "CNI_COMMAND" ? command : undefined,
      readStdin: () => JSON.stringify(CONFIG),
      stdout: { write: (text: string) => stdout += text },
      stderr: { write: () => {} },
    };
    const after = (ms: number, ring: () => void) => {
      asked.push(ms);
      queueMicrotask(ring);
      return () => {};
    };
    const code = await dispatch(table(command, () => new Promise(() => {})), io, {
      clock: { after, monotonicMs: () => 0 },
    });
    assertEquals([code, JSON.parse(stdout).code, asked], [1, 11, [limitMs]]);
    assertStringIncludes(stdout, `Cannot carry out ${command}`);
  });
}
