import { assert, assertEquals, assertThrows } from "@std/assert";
import { writeFileAtomic } from "./atomic_write.ts";
import { FileError } from "./file_error.ts";
import { temporaryDirectory } from "./testing.ts";

function names(directory: string): string[] {
  return [...Deno.readDirSync(directory)].map((entry) => entry.name).sort();
}

function mode(path: string): number {
  return (Deno.lstatSync(path).mode ?? 0) & 0o7777;
}

Deno.test("writeFileAtomic() sets the mode whatever the umask is", () => {
  using root = temporaryDirectory();
  const umask = Deno.umask(0o077);
  try {
    writeFileAtomic(`${root.path}/shared`, "x");
    writeFileAtomic(`${root.path}/secret`, "x", { mode: 0o600 });
  } finally {
    Deno.umask(umask);
  }
  assertEquals(mode(`${root.path}/shared`), 0o644);
  assertEquals(mode(`${root.path}/secret`), 0o600);
});

Deno.test("writeFileAtomic() replaces a symbolic link instead of writing through it", () => {
  using root = temporaryDirectory();
  Deno.writeTextFileSync(`${root.path}/victim`, "untouched");
  Deno.symlinkSync("victim", `${root.path}/link`);
  writeFileAtomic(`${root.path}/link`, "new");
  assertEquals(Deno.readTextFileSync(`${root.path}/victim`), "untouched");
  assert(Deno.lstatSync(`${root.path}/link`).isFile);
  assertEquals(Deno.readTextFileSync(`${root.path}/link`), "new");
});

Deno.test("writeFileAtomic() leaves nothing behind when it cannot replace the target", () => {
  using root = temporaryDirectory();
  Deno.mkdirSync(`${root.path}/target`);
  const error = assertThrows(() => writeFileAtomic(`${root.path}/target`, "x"), FileError);
  assertEquals(error.code, "IsDirectory");
  assertEquals(names(root.path), ["target"]);
});

Deno.test("writeFileAtomic() says which directory is missing and how to make it", () => {
  using root = temporaryDirectory();
  const error = assertThrows(() => writeFileAtomic(`${root.path}/no/file`, "x"), FileError);
  assertEquals(error.reason, `the directory ${root.path}/no does not exist`);
  assertEquals(error.remedy, `mkdir -p ${root.path}/no`);
});

Deno.test("writeFileAtomic() accepts a name of the greatest length", () => {
  using root = temporaryDirectory();
  const name = "ü".repeat(127);
  writeFileAtomic(`${root.path}/${name}`, "x");
  assertEquals(names(root.path), [name]);
});

Deno.test("writeFileAtomic() writes more than one write(2) may take", () => {
  using root = temporaryDirectory();
  const bytes = new Uint8Array(3_000_000).map((_, i) => i % 251);
  writeFileAtomic(`${root.path}/big`, bytes);
  assertEquals(Deno.readFileSync(`${root.path}/big`), bytes);
});

Deno.test("writeFileAtomic() uses no temporary name that containerd would load", async () => {
  using root = temporaryDirectory();
  const seen = new Set<string>();
  const watcher = Deno.watchFs(root.path);
  const watching = (async () => {
    for await (const event of watcher) {
      for (const path of event.paths) seen.add(path.slice(root.path.length + 1));
      if (event.paths.includes(`${root.path}/end`)) break;
    }
  })();
  writeFileAtomic(`${root.path}/10-headcni.conflist`, "{}");
  Deno.writeTextFileSync(`${root.path}/end`, "");
  await watching;
  seen.delete("end");
  const [temporary, ...others] = [...seen].filter((name) => name !== "10-headcni.conflist");
  assert(/^\.10-headcni\.conflist\.[0-9a-f]{8}\.tmp$/.test(temporary ?? ""), temporary);
  assertEquals(others, []);
});

/** Runs `test` in a file system mounted for it, or says why it cannot. */
function withTmpfs(options: string, test: (path: string) => void): void {
  using root = temporaryDirectory();
  const mount = (command: string, args: string[]) =>
    new Deno.Command(command, { args, stdout: "null", stderr: "null" }).outputSync().success;
  if (Deno.uid() !== 0 || !mount("mount", ["-t", "tmpfs", "-o", options, "tmpfs", root.path])) {
    // deno-lint-ignore no-console
    console.log("skipped: mounting a tmpfs needs root and CAP_SYS_ADMIN");
    return;
  }
  try {
    test(root.path);
  } finally {
    mount("umount", [root.path]);
  }
}

Deno.test("writeFileAtomic() keeps the old content when the disk is full", () => {
  withTmpfs("size=64k", (path) => {
    writeFileAtomic(`${path}/state`, "old");
    const error = assertThrows(
      () => writeFileAtomic(`${path}/state`, new Uint8Array(200_000)),
      FileError,
      `Cannot write file ${path}/state: no space is left on the device`,
    );
    assertEquals(error.code, "NoSpace");
    assertEquals(names(path), ["state"]);
    assertEquals(Deno.readTextFileSync(`${path}/state`), "old");
    writeFileAtomic(`${path}/state`, "new");
    assertEquals(Deno.readTextFileSync(`${path}/state`), "new");
  });
});

Deno.test("writeFileAtomic() tells a read-only file system from a full one", () => {
  withTmpfs("ro", (path) => {
    const error = assertThrows(() => writeFileAtomic(`${path}/state`, "x"), FileError);
    assertEquals(error.code, "ReadOnly");
  });
});
