import {
  assert,
  assertEquals,
  assertGreaterOrEqual,
  assertLess,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import { run } from "./process.ts";
import { ProcessError } from "./process_error.ts";
import { temporaryDirectory } from "./testing.ts";

const sh = (script: string, options = {}) => run("sh", ["-c", script], options);

Deno.test("run() gives status and output of a program that ends", async () => {
  const result = await sh("echo out; echo err >&2; exit 3");
  const { code, signal, stdout, stderr } = result;
  assertEquals({ code, signal, stdout, stderr }, {
    code: 3,
    signal: undefined,
    stdout: "out\n",
    stderr: "err\n",
  });
  assert(result.durationMs > 0);
});

Deno.test("run() hands arguments over as they are", async () => {
  const args = ["$HOME", "; rm -rf x", "a b", "*", '"', "\n"];
  const { stdout } = await run("printf", ["%s\\0", ...args]);
  assertEquals(stdout.split("\0").slice(0, -1), args);
});

Deno.test("run() passes environment and directory", async () => {
  using root = temporaryDirectory();
  const { stdout } = await run("/bin/sh", ["-c", "echo $A; echo ${HOME-unset}; pwd"], {
    env: { A: "1" },
    clearEnv: true,
    cwd: root.path,
  });
  assertEquals(stdout, `1\nunset\n${Deno.realPathSync(root.path)}\n`);
});

Deno.test("run() passes on what passEnv lets through, and nothing else", async () => {
  const { stdout } = await sh("echo $A; echo ${HOME-unset}; echo ${PATH:+set}", {
    env: { A: "1" },
    passEnv: (name: string) => name === "PATH",
  });
  assertEquals(stdout, "1\nunset\nset\n");
});

Deno.test("run() feeds more input and reads more output than a pipe holds", async () => {
  const input = "0123456789abcdef".repeat(20_000);
  const { stdout } = await run("cat", [], { stdin: input });
  assertEquals(stdout.length, input.length);
  assertEquals(stdout, input);
});

Deno.test("run() gives a program without stdin an empty one", async () => {
  assertEquals((await run("cat", [])).stdout, "");
});

Deno.test("run() accepts a program that ends without reading its input", async () => {
  assertEquals((await run("true", [], { stdin: "x".repeat(1_000_000) })).code, 0);
});

Deno.test("run() decodes characters that are split between writes", async () => {
  const { stdout } = await sh(String.raw`printf '\303'; sleep 0.05; printf '\274'`);
  assertEquals(stdout, "ü");
});

Deno.test("run() tells how a signal ended the program", async () => {
  const { code, signal } = await sh("kill -SEGV $$");
  assertEquals([code, signal], [139, "SIGSEGV"]);
});

Deno.test("run() with check quotes the end of what the program said", async () => {
  const noise = "x".repeat(2000);
  const error = await assertRejects(
    () =>
      sh(`echo ${noise} >&2; printf 'Error: syntax\\n\\033[2Jerror' >&2; exit 2`, { check: true }),
    ProcessError,
  );
  assertEquals([error.kind, error.code, error.command], ["Failed", 2, "sh"]);
  assert(error.reason.startsWith("it ended with status 2: …x"), error.reason);
  assert(error.reason.endsWith("Error: syntax [2Jerror"), error.reason);
  assertLess(error.message.length, 800);
});

Deno.test("run() with check quotes stdout when stderr is silent", async () => {
  await assertRejects(
    () => sh("echo on stdout; exit 1", { check: true }),
    ProcessError,
    'Cannot run sh -c "echo on stdout; exit 1": it ended with status 1: on stdout',
  );
  await assertRejects(() => sh("kill $$", { check: true }), ProcessError, "SIGTERM ended it");
});

Deno.test("run() says why a program cannot be started", async () => {
  using root = temporaryDirectory();
  const file = (name: string, text: string, mode: number) => {
    Deno.writeTextFileSync(`${root.path}/${name}`, text, { mode });
    return `${root.path}/${name}`;
  };
  const table: [command: string, kind: string, reason: string][] = [
    ["no-such-program", "NotFound", "it is not in PATH"],
    [`${root.path}/missing`, "NotFound", "it does not exist"],
    [file("plain", "#!/bin/sh\n", 0o644), "NotExecutable", "permission is denied"],
    [
      file("orphan", "#!/no/sh\n", 0o755),
      "NotExecutable",
      "the interpreter it names does not exist",
    ],
  ];
  for (const [command, kind, reason] of table) {
    const error = await assertRejects(() => run(command, []), ProcessError);
    assertEquals([error.kind, error.reason], [kind, reason]);
  }
  const cwd = await assertRejects(() => run("true", [], { cwd: "/no/dir" }), ProcessError);
  assertEquals([cwd.kind, cwd.reason], ["NotStarted", "the directory /no/dir does not exist"]);
});

Deno.test("run() does not wait for a grandchild that keeps stdout open", async () => {
  const { code, stdout, durationMs } = await sh("sleep 60 & echo hi; echo $!");
  const [greeting, pid] = stdout.trim().split("\n");
  Deno.kill(Number(pid), "SIGKILL");
  assertEquals([code, greeting], [0, "hi"]);
  assertLess(durationMs, 5000);
});

Deno.test("run() reads on while a grandchild still writes", async () => {
  const { stdout } = await sh("(for i in 1 2 3 4; do sleep 0.1; echo $i; done) &");
  assertEquals(stdout, "1\n2\n3\n4\n");
});

Deno.test("run() stops a grandchild that writes for ever at the deadline", async () => {
  const error = await assertRejects(
    () => sh("(while :; do echo x; sleep 0.05; done) &", { timeoutMs: 500 }),
    ProcessError,
  );
  assertEquals(error.kind, "Deadline");
});

Deno.test("run() at its deadline stops the program and what it started", async () => {
  using root = temporaryDirectory();
  const error = await assertRejects(
    () => sh(`sleep 60 & echo $! > ${root.path}/pid; echo stuck >&2; wait`, { timeoutMs: 300 }),
    ProcessError,
    "it did not end within 300 ms: stuck",
  );
  assertEquals(error.kind, "Deadline");
  await assertGone(Number(Deno.readTextFileSync(`${root.path}/pid`)));
});

Deno.test("run() kills what ignores the request to stop", async () => {
  const start = performance.now();
  await assertRejects(
    () => sh("trap '' TERM; while :; do sleep 0.1; done", { timeoutMs: 100, stopGraceMs: 200 }),
    ProcessError,
  );
  const tookMs = performance.now() - start;
  assertGreaterOrEqual(tookMs, 290);
  assertLess(tookMs, 10_000);
});

Deno.test("run() kills a grandchild that outlives the program's stop", async () => {
  using root = temporaryDirectory();
  const stubborn = `trap "" TERM; echo $$ > ${root.path}/pid; while :; do sleep 0.1; done`;
  await assertRejects(() => sh(`sh -c '${stubborn}' & wait`, { timeoutMs: 300 }), ProcessError);
  await assertGone(Number(Deno.readTextFileSync(`${root.path}/pid`)));
});

Deno.test("run() stops a program that writes too much", async () => {
  const error = await assertRejects(() => run("yes", [], { maxOutputBytes: 1000 }), ProcessError);
  assertEquals(error.kind, "OutputTooLarge");
  assertEquals(error.reason, "its output is larger than 1000 bytes");
});

Deno.test("run() accepts output of exactly the limit", async () => {
  const { stdout } = await run("printf", ["12345"], { maxOutputBytes: 5 });
  assertEquals(stdout, "12345");
});

Deno.test("run() stops with its signal and gives the signal's reason", async () => {
  const reason = new Error("daemon is stopping");
  const controller = new AbortController();
  const running = run("sleep", ["60"], { signal: controller.signal });
  controller.abort(reason);
  assertStrictEquals(await assertRejects(() => running), reason);
  const refused = () => run("/no/such/program", [], { signal: controller.signal });
  assertStrictEquals(await assertRejects(refused), reason);
});

/** A killed process is gone when its new parent has reaped it, or is at least a zombie. */
async function assertGone(pid: number): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    try {
      const state = /^State:\s+(\S)/m.exec(Deno.readTextFileSync(`/proc/${pid}/status`))?.[1];
      if (state === "Z") return;
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return;
      throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`Process ${pid} still runs`);
}
