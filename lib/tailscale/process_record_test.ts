import { assertEquals } from "@std/assert";
import type { ProcessFacts, ProcessTable } from "../sys/process_table.ts";
import { MemoryFiles } from "../sys/testing.ts";
import {
  differences,
  findOwn,
  type ProcessRecord,
  readRecord,
  writeRecord,
} from "./process_record.ts";

const ARGS = ["--socket=/run/t.sock", "--statedir=/var/t", "--port=41645"];
const FACTS: ProcessFacts = {
  pid: 70,
  parent: 1,
  session: 70,
  startTicks: "1000",
  name: "tailscaled",
  executable: "/usr/sbin/tailscaled",
  args: ["/usr/sbin/tailscaled", ...ARGS],
  uid: 0,
  netnsId: "4:1",
};
const RECORD: ProcessRecord = {
  pid: 70,
  startTicks: "1000",
  bootId: "b1",
  version: "1.102.3",
  args: ARGS,
  environment: ["A=1"],
};
const IDENTITY = { record: RECORD, bootId: "b1", socket: "/run/t.sock", stateDirectory: "/var/t" };

function tableOf(...processes: readonly ProcessFacts[]): ProcessTable {
  return {
    find: (pid) => processes.find((facts) => facts.pid === pid),
    list: () => [...processes],
    signal: () => false,
    ownUid: () => 0,
  };
}

Deno.test("a record is read back; a damaged one counts as none", () => {
  const files = new MemoryFiles();
  files.makeDirectory("/run");
  assertEquals(readRecord(files, "/run/r"), undefined);
  writeRecord(files, "/run/r", RECORD);
  assertEquals(readRecord(files, "/run/r"), RECORD);
  assertEquals(files.stat("/run/r")?.mode, 0o600);
  for (const text of ["", "{", "[]", '{"pid":1}']) {
    files.writeAtomic("/run/r", text);
    assertEquals(readRecord(files, "/run/r"), undefined);
  }
});

Deno.test("our process is found by the record, and without one by its flags", () => {
  assertEquals(findOwn(tableOf(FACTS), IDENTITY)?.pid, 70);
  assertEquals(findOwn(tableOf(FACTS), { ...IDENTITY, record: undefined })?.pid, 70);
  assertEquals(findOwn(tableOf(), IDENTITY), undefined);
});

Deno.test("another process is never taken for ours", () => {
  const others: Record<string, ProcessFacts> = {
    "the number was used again": { ...FACTS, startTicks: "2000", args: ["/bin/other"], name: "x" },
    "another user's with our flags": { ...FACTS, uid: 1000 },
    "another tailscaled": { ...FACTS, args: ["/usr/sbin/tailscaled", "--socket=/other"] },
    "another program with our flags": { ...FACTS, pid: 71, name: "vi", executable: "/bin/vi" },
  };
  for (const [what, facts] of Object.entries(others)) {
    assertEquals(findOwn(tableOf(facts), IDENTITY), undefined, what);
  }
});

Deno.test("a record of another boot does not count", () => {
  const reused = { ...FACTS, name: "vi", executable: "/bin/vi" };
  assertEquals(findOwn(tableOf(reused), { ...IDENTITY, bootId: "b2" }), undefined);
});

Deno.test("in what a running one differs from what is wanted is told", () => {
  const wanted = { args: ARGS, environment: ["A=1"], version: "1.102.3", netnsId: "4:1" };
  assertEquals(differences(FACTS, RECORD, wanted), []);
  assertEquals(differences(FACTS, undefined, wanted), []);
  assertEquals(
    differences({ ...FACTS, executable: "/x (deleted)", netnsId: "4:2" }, RECORD, {
      args: [...ARGS.slice(0, 2), "--port=1"],
      environment: ["A=2"],
      version: "1.104.0",
      netnsId: "4:1",
    }),
    [
      "flags: it has --port=41645, wanted --port=1",
      "network namespace: it runs in another one",
      "program: the file it runs was replaced",
      "version: it is 1.102.3, installed is 1.104.0",
      "environment: other variables are set",
    ],
  );
});
