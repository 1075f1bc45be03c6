import { assert, assertEquals } from "@std/assert";
import { type ByteWriter, openLogFile, stderrSink } from "./log_sink.ts";
import { temporaryDirectory } from "./testing.ts";

/** A stream that takes as many bytes per write as `plan` says; a string is thrown as errno. */
function plannedStream(plan: (number | string)[]): ByteWriter & { text(): string } {
  const taken: number[] = [];
  return {
    writeSync(bytes) {
      const step = plan.shift() ?? bytes.length;
      if (typeof step === "string") throw Object.assign(new Error(step), { code: step });
      taken.push(...bytes.subarray(0, step));
      return Math.min(step, bytes.length);
    },
    text: () => new TextDecoder().decode(new Uint8Array(taken)),
  };
}

Deno.test("stderrSink() writes on after a partial write", () => {
  const stream = plannedStream([1, 2]);
  stderrSink(stream).write("hello\n");
  assertEquals(stream.text(), "hello\n");
});

Deno.test("stderrSink() drops what cannot be written, in silence", () => {
  const stream = plannedStream(["EPIPE", "EAGAIN"]);
  const sink = stderrSink(stream);
  for (const line of ["a\n", "b\n", "c\n"]) sink.write(line);
  assertEquals(stream.text(), "c\n");
});

Deno.test("stderrSink() does not join the next line to one that was cut off", () => {
  const stream = plannedStream([3, "EAGAIN"]);
  const sink = stderrSink(stream);
  sink.write("level=INFO\n");
  sink.write("level=WARN\n");
  assertEquals(stream.text(), "lev\nlevel=WARN\n");
});

Deno.test("openLogFile() appends, and creates a file only we can read", () => {
  using root = temporaryDirectory();
  const path = `${root.path}/headcni.log`;
  for (const line of ["a\n", "b\n"]) {
    using file = openLogFile(path);
    file.write(line);
  }
  assertEquals(Deno.readTextFileSync(path), "a\nb\n");
  assertEquals((Deno.statSync(path).mode ?? 0) & 0o777, 0o600);
});

Deno.test("openLogFile() keeps one older file and both within the limit", () => {
  using root = temporaryDirectory();
  const path = `${root.path}/log`;
  using file = openLogFile(path, { maxBytes: 10 });
  for (const line of ["1111\n", "2222\n", "3333\n", "4444\n", "5555\n"]) file.write(line);
  assertEquals(Deno.readTextFileSync(path), "5555\n");
  assertEquals(Deno.readTextFileSync(`${path}.1`), "3333\n4444\n");
  assertEquals([...Deno.readDirSync(root.path)].length, 2);
});

Deno.test("openLogFile() writes a line that alone is larger than the limit", () => {
  using root = temporaryDirectory();
  using file = openLogFile(`${root.path}/log`, { maxBytes: 4 });
  file.write("larger\n");
  assertEquals(Deno.readTextFileSync(`${root.path}/log`), "larger\n");
});

Deno.test("openLogFile() counts bytes, not characters", () => {
  using root = temporaryDirectory();
  using file = openLogFile(`${root.path}/log`, { maxBytes: 10 });
  file.write("üü\n");
  file.write("üüü\n");
  assertEquals(Deno.readTextFileSync(`${root.path}/log.1`), "üü\n");
});

Deno.test("openLogFile() does not rotate the fresh file of another process", () => {
  using root = temporaryDirectory();
  const path = `${root.path}/log`;
  using ours = openLogFile(path, { maxBytes: 10 });
  using theirs = openLogFile(path, { maxBytes: 10 });
  ours.write("1111\n");
  theirs.write("2222\n");
  theirs.write("3333\n");
  // Our handle is on what is now the older file; it is full, but `path` is not.
  ours.write("4444\n");
  assertEquals(Deno.readTextFileSync(path), "3333\n4444\n");
  assertEquals(Deno.readTextFileSync(`${path}.1`), "1111\n2222\n");
});

Deno.test("openLogFile() hands lines it cannot write to its fallback", () => {
  using root = temporaryDirectory();
  const caught: string[] = [];
  const fallback = { write: (line: string) => caught.push(line) };
  const path = `${root.path}/later/log`;
  using file = openLogFile(path, { fallback });
  file.write("a\n");
  Deno.mkdirSync(`${root.path}/later`);
  file.write("b\n");
  assertEquals(caught, ["a\n"]);
  assertEquals(Deno.readTextFileSync(path), "b\n");

  using full = openLogFile("/dev/full", { fallback });
  full.write("c\n");
  assertEquals(caught, ["a\n", "c\n"]);
});

Deno.test("openLogFile() keeps lines whole when many processes write", async () => {
  using root = temporaryDirectory();
  const path = `${root.path}/log`;
  const script = `
    import { openLogFile } from ${JSON.stringify(import.meta.resolve("./log_sink.ts"))};
    using file = openLogFile(Deno.args[0]);
    for (let i = 0; i < 200; i++) file.write(Deno.args[1].repeat(60) + "\\n");
  `;
  Deno.writeTextFileSync(`${root.path}/writer.ts`, script);
  const writers = ["a", "b", "c"].map((letter) =>
    new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-config", "-A", `${root.path}/writer.ts`, path, letter],
    }).output()
  );
  for (const { success } of await Promise.all(writers)) assert(success);
  const lines = Deno.readTextFileSync(path).trimEnd().split("\n");
  assertEquals(lines.length, 600);
  for (const line of lines) assert(/^(a{60}|b{60}|c{60})$/.test(line), line);
});
