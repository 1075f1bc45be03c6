import { assert, assertEquals } from "@std/assert";
import { procTable } from "./process_table.ts";

Deno.test("this process is found, with what names it", () => {
  const own = procTable.find(Deno.pid);
  assert(own !== undefined);
  assertEquals([own.pid, own.uid], [Deno.pid, Deno.uid()]);
  assertEquals(own.executable, Deno.readLinkSync("/proc/self/exe"));
  assert(own.args.length > 1 && /^\d+$/.test(own.startTicks) && own.name !== "");
  assert(/^\d+:\d+$/.test(own.netnsId ?? ""));
  assertEquals(procTable.list().find(({ pid }) => pid === Deno.pid)?.startTicks, own.startTicks);
});

Deno.test("a number nobody has, and the remains of a process, are nobody", async () => {
  const child = new Deno.Command("/bin/sleep", { args: ["60"] }).spawn();
  assert(procTable.find(child.pid) !== undefined);
  assert(procTable.signal(child.pid, "SIGTERM"));
  await child.status;
  assertEquals(procTable.find(child.pid), undefined);
  assertEquals(procTable.signal(child.pid, "SIGTERM"), false);
});

Deno.test("a name with spaces and parentheses does not shift the fields", async () => {
  const path = `${Deno.makeTempDirSync()}/a) S 1 (b`;
  Deno.copyFileSync("/bin/sleep", path);
  const child = new Deno.Command(path, { args: ["60"] }).spawn();
  const facts = procTable.find(child.pid);
  child.kill("SIGKILL");
  await child.status;
  Deno.removeSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  assertEquals(facts?.name, "a) S 1 (b");
  assert(/^\d+$/.test(facts?.startTicks ?? ""));
});
