import { assertEquals, assertRejects } from "@std/assert";
import { DeadlineError } from "./clock.ts";
import { lockFile } from "./file_lock.ts";
import { FileError } from "./file_error.ts";
import { temporaryDirectory, untilClosed } from "./testing.ts";

Deno.test("lockFile() lets one holder in at a time, and any number that share", async () => {
  using directory = temporaryDirectory();
  const path = `${directory.path}/lock`;
  {
    using _one = await lockFile(path, { mode: "shared", timeoutMs: 5000 });
    using _two = await lockFile(path, { mode: "shared", timeoutMs: 5000 });
    const alone = lockFile(path, { mode: "exclusive", timeoutMs: 50 });
    await assertRejects(() => alone, DeadlineError, "not finished after 50 ms");
  }
  {
    using _alone = await lockFile(path, { mode: "exclusive", timeoutMs: 5000 });
    assertEquals((Deno.statSync(path).mode ?? 0) & 0o777, 0o600);
  }
  await untilClosed(path);
});

Deno.test("lockFile() that gave up does not hold the lock when it comes late", async () => {
  using directory = temporaryDirectory();
  const path = `${directory.path}/lock`;
  const first = await lockFile(path, { mode: "exclusive", timeoutMs: 5000 });
  await assertRejects(() => lockFile(path, { mode: "exclusive", timeoutMs: 30 }), DeadlineError);
  first[Symbol.dispose]();
  const second = await lockFile(path, { mode: "exclusive", timeoutMs: 5000 });
  second[Symbol.dispose]();
  await untilClosed(path);
});

Deno.test("lockFile() is given back by a process that dies", async () => {
  using directory = temporaryDirectory();
  const path = `${directory.path}/lock`;
  await Deno.writeTextFile(path, "");
  const args = ["-c", `exec 9<"$0"; flock -x 9; echo held; exec sleep 60`, path];
  const child = new Deno.Command("bash", { args, stdout: "piped" }).spawn();
  const reader = child.stdout.getReader();
  await reader.read();
  await assertRejects(() => lockFile(path, { mode: "exclusive", timeoutMs: 30 }), DeadlineError);
  child.kill("SIGKILL");
  await child.status;
  await reader.cancel();
  const lock = await lockFile(path, { mode: "exclusive", timeoutMs: 5000 });
  lock[Symbol.dispose]();
  await untilClosed(path);
});

Deno.test("lockFile() names a directory that is not there", async () => {
  const path = "/nonexistent/lock";
  await assertRejects(() => lockFile(path, { mode: "shared", timeoutMs: 10 }), FileError, path);
});
