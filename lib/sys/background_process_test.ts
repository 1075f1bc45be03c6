import { assert, assertEquals, assertThrows } from "@std/assert";
import { startProcess } from "./background_process.ts";
import { FileError } from "./file_error.ts";
import { ProcessError } from "./process_error.ts";
import { procTable } from "./process_table.ts";
import { temporaryDirectory } from "./testing.ts";

Deno.test("a program gets the given environment alone, and its output goes to a file", async () => {
  using root = temporaryDirectory();
  const outputPath = `${root.path}/log`;
  Deno.env.set("HEADCNI_TEST_SECRET", "hidden");
  const { ended } = startProcess("/bin/sh", ["-c", "echo line >&2; env"], {
    env: { ONLY: "this" },
    outputPath,
  });
  Deno.env.delete("HEADCNI_TEST_SECRET");
  assertEquals(await ended, { code: 0, signal: undefined });
  const output = Deno.readTextFileSync(outputPath);
  assert(output.startsWith("line\n") && output.includes("ONLY=this"), output);
  assert(!output.includes("hidden"), output);
  assertEquals((Deno.statSync(outputPath).mode ?? 0) & 0o777, 0o600);
});

Deno.test("how it ended is told: status or signal", async () => {
  using root = temporaryDirectory();
  const options = { env: {}, outputPath: `${root.path}/log` };
  const { ended } = startProcess("/bin/sh", ["-c", "exit 7"], options);
  assertEquals(await ended, { code: 7, signal: undefined });
  const killed = startProcess("/bin/sleep", ["60"], options);
  assertEquals(procTable.find(killed.pid)?.args, ["/bin/sleep", "60"]);
  assert(procTable.signal(killed.pid, "SIGKILL", { group: true }));
  assertEquals(await killed.ended, { code: undefined, signal: "SIGKILL" });
});

Deno.test("a program that cannot be started is an error, at once", () => {
  using root = temporaryDirectory();
  const outputPath = `${root.path}/log`;
  Deno.writeTextFileSync(`${root.path}/data`, "");
  const start = (command: string, path = outputPath) => () =>
    startProcess(command, [], { env: {}, outputPath: path });
  assertThrows(start(`${root.path}/none`), ProcessError, "Cannot run");
  assertThrows(start(`${root.path}/data`), ProcessError, "permission is denied");
  assertThrows(start("/bin/true", `${root.path}/none/log`), FileError, "Cannot open log file");
});
