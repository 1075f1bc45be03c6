/** A store that is damaged, full, read-only, somebody else's or a link: each has its outcome. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { requires, root, tool } from "../requires.ts";
import { createNamespace, deleteLink } from "./namespace.ts";
import { Bench, network } from "./plugin.ts";

const CONFIG = network({ ranges: [[{ subnet: "10.65.0.0/24" }]] });
const ROOT = requires(root);

function filesOf(bench: Bench): string[] {
  return [...Deno.readDirSync(bench.data)].map(({ name }) => name).sort();
}

const DAMAGE: Record<string, (path: string) => Promise<void>> = {
  "has another content": (path) => Deno.writeTextFile(path, "x".repeat(5000)),
  "has a broken header": async (path) => {
    using file = await Deno.open(path, { write: true });
    await file.write(new Uint8Array(100).fill(255));
  },
  "has broken pages": async (path) => {
    // The log holds the newest pages: fold it in first, then break them all but the header.
    const db = new DatabaseSync(path);
    db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    db.close();
    const { size } = await Deno.stat(path);
    using file = await Deno.open(path, { write: true });
    await file.seek(4096, Deno.SeekMode.Start);
    await file.write(new Uint8Array(size - 4096).fill(170));
  },
  "is empty": (path) => Deno.truncate(path, 0),
  "is gone but its log is not": (path) => Deno.remove(path),
};

for (const [what, damage] of Object.entries(DAMAGE)) {
  Deno.test({
    ...requires(root, tool("ip", "iproute2")),
    name: `a database that ${what} is kept aside and made anew from what the kernel uses`,
    fn: async () => {
      await using bench = new Bench();
      await using namespace = await createNamespace();
      await bench.call({ command: "ADD", id: "pod-1", netns: namespace.path, config: CONFIG });
      // pod-1 runs: its address is in its namespace.
      await namespace.ip("addr", "add", "10.65.0.2/24", "dev", "lo");
      await damage(`${bench.data}/headcni.db`);

      const next = await bench.call({ command: "ADD", id: "pod-2", config: CONFIG });
      assertEquals(next.code, 0, next.stdout);
      assertEquals(next.json.ips[0].address, "10.65.0.3/24", "the address of pod-1 was given away");
      assertMatch(next.stderr, /made anew with \d+ addresses the kernel uses/);
      assert(filesOf(bench).some((name) => /^headcni\.db(-wal)?\.damaged-/.test(name)));
      const shown = await bench.ipam("show", "10.65.0.2", "--json");
      assertEquals(shown.json[0].state, "found");

      // Its DEL knows the address from the result of ADD.
      const prevResult = { cniVersion: "1.0.0", ips: [{ address: "10.65.0.2/24" }] };
      const config = { ...CONFIG, prevResult };
      assertEquals((await bench.call({ command: "CHECK", id: "pod-1", config })).code, 0);
      assertEquals((await bench.call({ command: "DEL", id: "pod-1", config })).code, 0);
      const after = await bench.ipam("show", "10.65.0.2", "--json");
      assertEquals(after.json[0].state, "resting");
    },
  });
}

Deno.test("many calls that meet a damaged database replace it once", async () => {
  await using bench = new Bench();
  await bench.call({ command: "ADD", id: "first", config: CONFIG });
  await Deno.truncate(`${bench.data}/headcni.db`, 0);
  const ids = Array.from({ length: 12 }, (_, index) => `pod-${index}`);
  const endings = await Promise.all(
    ids.map((id) => bench.call({ command: "ADD", id, config: CONFIG })),
  );
  const addresses = endings.map(({ json }) => json.ips[0].address);
  assertEquals(new Set(addresses).size, ids.length);
  const kept = filesOf(bench).filter((name) => name.startsWith("headcni.db.damaged-"));
  assertEquals(kept.length, 1, `${kept}`);
});

Deno.test("a newer schema is refused, and nothing is changed", async () => {
  await using bench = new Bench();
  await bench.call({ command: "ADD", config: CONFIG });
  const path = `${bench.data}/headcni.db`;
  const db = new DatabaseSync(path);
  db.exec("PRAGMA user_version = 99");
  db.close();
  for (const command of ["ADD", "DEL"]) {
    const refused = await bench.call({ command, id: "pod-2", config: CONFIG });
    assertEquals([refused.code, refused.json.code], [1, 5]);
    assertStringIncludes(refused.json.msg, "a newer headcni wrote it (schema 99");
  }
  assert(!filesOf(bench).some((name) => name.includes("damaged")));
});

Deno.test({
  ...ROOT,
  name: "a full disk is an error with a remedy, and ADD works again once there is room",
  fn: async () => {
    await using bench = new Bench();
    await Deno.mkdir(bench.data);
    const mount = ["-t", "tmpfs", "-o", "size=400k,mode=0700", "tmpfs", bench.data];
    await new Deno.Command("mount", { args: mount }).output();
    try {
      const first = await bench.call({ command: "ADD", id: "pod-1", config: CONFIG });
      assertEquals(first.code, 0, first.stdout);
      // dd ends when the disk is full.
      const filler = ["if=/dev/zero", `of=${bench.data}/filler`, "bs=4k"];
      await new Deno.Command("dd", { args: filler, stderr: "null" }).output();
      const full = await bench.call({ command: "ADD", id: "pod-2", config: CONFIG });
      assertEquals([full.code, full.json.code], [1, 5], full.stdout);
      assertStringIncludes(full.json.msg, "no space is left on the device");
      assertStringIncludes(full.json.details, "df -h");
      await Deno.remove(`${bench.data}/filler`);
      const next = await bench.call({ command: "ADD", id: "pod-2", config: CONFIG });
      assertEquals(next.json.ips[0].address, "10.65.0.3/24");
    } finally {
      await new Deno.Command("umount", { args: [bench.data] }).output();
    }
  },
});

Deno.test({
  ...ROOT,
  name: "a full disk before the first use leaves no half-made store",
  fn: async () => {
    await using bench = new Bench();
    await Deno.mkdir(bench.data);
    const mount = ["-t", "tmpfs", "-o", "size=16k,mode=0700", "tmpfs", bench.data];
    await new Deno.Command("mount", { args: mount }).output();
    try {
      const full = await bench.call({ command: "ADD", config: CONFIG });
      assertEquals([full.code, full.json.code], [1, 5], full.stdout);
      assert(!filesOf(bench).includes("headcni.db"));
    } finally {
      await new Deno.Command("umount", { args: [bench.data] }).output();
    }
  },
});

Deno.test({
  ...ROOT,
  name: "a read-only file system is an error with a remedy; STATUS says so",
  fn: async () => {
    await using bench = new Bench();
    await Deno.mkdir(bench.data);
    const run = (program: string, ...args: string[]) =>
      new Deno.Command(program, { args }).output();
    await run("mount", "-t", "tmpfs", "-o", "size=1m,mode=0700", "tmpfs", bench.data);
    try {
      await bench.call({ command: "ADD", id: "pod-1", config: CONFIG });
      await run("mount", "-o", "remount,ro", bench.data);
      for (const command of ["ADD", "DEL"]) {
        const refused = await bench.call({ command, id: "pod-1", config: CONFIG });
        assertEquals([refused.code, refused.json.code], [1, 5], refused.stdout);
        assertStringIncludes(refused.json.msg, "read-only");
        assertStringIncludes(refused.json.details, "findmnt -T");
      }
      const config = { ...CONFIG, cniVersion: "1.1.0" };
      const status = await bench.call({ command: "STATUS", config });
      assertEquals([status.code, status.json.code], [1, 50], status.stdout);
    } finally {
      await run("umount", bench.data);
    }
  },
});

Deno.test({
  ...ROOT,
  name: "what belongs to others, may be written by others, or is a link is refused",
  fn: async () => {
    const traps: Record<string, (bench: Bench) => Promise<unknown>> = {
      "belongs to user 1234": (bench) => Deno.chown(`${bench.data}/headcni.db`, 1234, null),
      "lets others change it": (bench) => Deno.chmod(`${bench.data}/headcni.db`, 0o666),
      "symbolic link": async (bench) => {
        await Deno.rename(`${bench.data}/headcni.db`, `${bench.directory}/elsewhere.db`);
        await Deno.symlink(`${bench.directory}/elsewhere.db`, `${bench.data}/headcni.db`);
      },
      "0777 lets others change it": (bench) => Deno.chmod(bench.data, 0o777),
      "user 4321": (bench) => Deno.chown(bench.data, 4321, null),
    };
    for (const [reason, plant] of Object.entries(traps)) {
      await using bench = new Bench();
      await bench.call({ command: "ADD", id: "pod-1", config: CONFIG });
      await plant(bench);
      const refused = await bench.call({ command: "ADD", id: "pod-2", config: CONFIG });
      assertEquals([refused.code, refused.json.code], [1, 5], refused.stdout);
      assertStringIncludes(refused.json.msg, reason);
      assert(refused.json.details !== undefined, "there is no remedy");
    }
  },
});

Deno.test("a data directory that is a link is refused, one that others may read is tightened", async () => {
  await using bench = new Bench();
  await Deno.mkdir(`${bench.directory}/real`, { mode: 0o755 });
  await Deno.symlink(`${bench.directory}/real`, bench.data);
  const refused = await bench.call({ command: "ADD", config: CONFIG });
  assertStringIncludes(refused.json.msg, "symbolic link");

  await Deno.remove(bench.data);
  await Deno.mkdir(bench.data);
  await Deno.chmod(bench.data, 0o755);
  assertEquals((await bench.call({ command: "ADD", config: CONFIG })).code, 0);
  assertEquals((Deno.statSync(bench.data).mode ?? 0) & 0o777, 0o700);
});

Deno.test("with any umask the directory is 0700 and all files are 0600", async () => {
  for (const umask of ["0000", "0077", "0022"]) {
    await using bench = new Bench();
    const wrapper = `${bench.bin}/wrapper`;
    const script = `#!/bin/sh\numask ${umask}\nexec ${bench.bin}/headcni-ipam\n`;
    await Deno.writeTextFile(wrapper, script, { mode: 0o755 });
    const ending = await bench.call({ plugin: wrapper, command: "ADD", config: CONFIG });
    assertEquals(ending.code, 0, ending.stdout);
    const mode = (path: string) => (Deno.statSync(path).mode ?? 0) & 0o777;
    assertEquals(mode(bench.data), 0o700);
    for (const name of filesOf(bench)) assertEquals(mode(`${bench.data}/${name}`), 0o600, name);
  }
});

Deno.test({
  ...requires(tool("strace")),
  name: "nothing is written to /tmp or anywhere but the data directory",
  fn: async () => {
    await using bench = new Bench();
    const trace = `${bench.directory}/trace`;
    const wrapper = `${bench.bin}/wrapper`;
    const strace = `strace -f -o ${trace} -e trace=open,openat,creat,rename,mkdir`;
    const script = `#!/bin/sh\nexec ${strace} ${bench.bin}/headcni-ipam\n`;
    await Deno.writeTextFile(wrapper, script, { mode: 0o755 });
    const ending = await bench.call({ plugin: wrapper, command: "ADD", config: CONFIG });
    assertEquals(ending.code, 0, ending.stdout + ending.stderr);
    const written = (await Deno.readTextFile(trace)).split("\n")
      .filter((line) =>
        /O_WRONLY|O_RDWR|O_CREAT|creat\(|mkdir\(/.test(line) && !/ENOENT/.test(line)
      )
      .map((line) => /"([^"]+)"/.exec(line)?.[1] ?? line);
    assert(written.length > 0);
    const stray = written.filter((path) => !path.startsWith(bench.data) && !/^\/dev\//.test(path));
    assertEquals(stray, []);
  },
});

Deno.test({
  ...requires(root, tool("ip", "iproute2"), tool("host-local", "containernetworking-plugins")),
  name: "a point-to-point container of before the damage keeps its address",
  fn: async () => {
    await using bench = new Bench();
    await using namespace = await createNamespace();
    const config = { ...CONFIG, type: "ptp" };
    const about = { plugin: "ptp", id: "pod-1", netns: namespace.path, config };
    const added = await bench.call({ ...about, command: "ADD" });
    assertEquals(added.code, 0, added.stdout);
    const veth: string = added.json.interfaces[0].name;
    try {
      await Deno.truncate(`${bench.data}/headcni.db`, 0);
      const next = await bench.call({ command: "ADD", id: "pod-2", config: CONFIG });
      assertEquals(next.json.ips[0].address, "10.65.0.3/24");
    } finally {
      await deleteLink(veth);
    }
  },
});
