import { assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { type RunOptions } from "../sys/process.ts";
import { ProcessError } from "../sys/process_error.ts";
import { temporaryDirectory } from "../sys/testing.ts";
import { DelegateError } from "./errors.ts";
import { executePlugin, findPlugin, type PluginExecution } from "./plugin_exec.ts";

/** A file system with these files and modes. */
function files(modes: Readonly<Record<string, number>>) {
  return {
    stat: (path: string) => {
      const mode = modes[path];
      if (mode === undefined) return undefined;
      return { kind: "file", size: 1, mode, uid: 0, gid: 0, modifiedMs: 0 } as const;
    },
  };
}

const EXECUTION: PluginExecution = {
  command: "ADD",
  type: "other",
  path: ["/opt/a", "/opt/b"],
  env: { CNI_CONTAINERID: "c1" },
  config: { name: "net" },
  timeoutMs: 1000,
};

Deno.test("findPlugin() takes the first directory that has the file, and no path", () => {
  const given = { files: files({ "/opt/b/other": 0o755, "/opt/a/locked": 0o644 }) };
  const { path } = EXECUTION;
  assertEquals(findPlugin("other", path, given), "/opt/b/other");
  for (const type of ["", ".", "..", "../b/other", "/opt/b/other", "missing", "a\0b", "locked"]) {
    const error = assertThrows(() => findPlugin(type, path, given), DelegateError);
    assertEquals(error.mayHaveRun, false);
  }
  const locked = assertThrows(() => findPlugin("locked", path, given), DelegateError);
  assertStringIncludes(locked.message, "/opt/a/locked is not executable");
  const missing = assertThrows(() => findPlugin("missing", [], given), DelegateError);
  assertStringIncludes(missing.message, "it is in none of CNI_PATH (empty)");
});

Deno.test("executePlugin() waits for a program that is being replaced", async () => {
  let attempts = 0;
  const slept: number[] = [];
  const stdout = await executePlugin(EXECUTION, {
    files: files({ "/opt/a/other": 0o755 }),
    clock: { sleep: (ms) => Promise.resolve(void slept.push(ms)) },
    run: (command, args) => {
      if (++attempts < 3) {
        const reason = "Text file busy (os error 26)";
        throw new ProcessError({ kind: "NotStarted", command, args, reason });
      }
      const ending = { code: 0, signal: undefined, stdout: "{}", stderr: "", durationMs: 1 };
      return Promise.resolve(ending);
    },
  });
  assertEquals([stdout, slept], ["{}", [100, 200]]);
});

Deno.test("executePlugin() passes the variables of the call, and no other of the specification", async () => {
  let seen: RunOptions | undefined;
  await executePlugin(EXECUTION, {
    files: files({ "/opt/a/other": 0o755 }),
    run: (_command, _args, options) => {
      seen = options;
      const ending = { code: 0, signal: undefined, stdout: "", stderr: "", durationMs: 1 };
      return Promise.resolve(ending);
    },
  });
  assertEquals(seen?.env, { CNI_COMMAND: "ADD", CNI_CONTAINERID: "c1" });
  assertEquals(
    ["CNI_IFNAME", "CNI_X", "PATH", "HEADCNI_DATA_DIR"].map((name) => seen?.passEnv?.(name)),
    [
      false,
      false,
      true,
      true,
    ],
  );
  assertEquals(seen?.stdin, '{"name":"net"}');
});

Deno.test("executePlugin() knows whether a plugin may have done something", async () => {
  using directory = temporaryDirectory();
  const write = (name: string, text: string) =>
    Deno.writeTextFileSync(`${directory.path}/${name}`, text, { mode: 0o755 });
  write("hangs", "#!/bin/sh\nsleep 60\n");
  write("dies", "#!/bin/sh\nkill -9 $$\n");
  write("lost", "#!/nowhere/interpreter\n");
  const fails = (type: string) => {
    const execution = { ...EXECUTION, type, path: [directory.path], timeoutMs: 300 };
    return assertRejects(() => executePlugin(execution), DelegateError);
  };
  const [hangs, dies, lost] = [await fails("hangs"), await fails("dies"), await fails("lost")];
  assertEquals([hangs.mayHaveRun, dies.mayHaveRun, lost.mayHaveRun], [true, true, false]);
  assertEquals(hangs.message, "Cannot use plugin hangs: it did not end within 300 ms");
  assertEquals(dies.message, "Cannot use plugin dies: SIGKILL ended it: it printed nothing");
  assertStringIncludes(lost.message, "the interpreter it names does not exist");
});
