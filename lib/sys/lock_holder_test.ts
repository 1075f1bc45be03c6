import { assertEquals } from "@std/assert";
import { findLockHolder } from "./lock_holder.ts";
import { temporaryDirectory } from "./testing.ts";

Deno.test("findLockHolder() names the process that has the lock", async () => {
  using directory = temporaryDirectory();
  const path = `${directory.path}/lock`;
  Deno.writeTextFileSync(path, "");
  assertEquals(findLockHolder(path), undefined);
  {
    using file = await Deno.open(path, { read: true, write: true });
    assertEquals(findLockHolder(path), undefined); // open, but not locked
    await file.lock(true);
    assertEquals(findLockHolder(path)?.pid, Deno.pid);
    assertEquals(findLockHolder(path)?.program, Deno.readTextFileSync("/proc/self/comm").trim());
  }
  assertEquals(findLockHolder(path), undefined);
});

Deno.test("findLockHolder() of nothing is nobody", () => {
  assertEquals(findLockHolder("/nonexistent/lock"), undefined);
});
