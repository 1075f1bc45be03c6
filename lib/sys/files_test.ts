import { assert, assertEquals, assertThrows } from "@std/assert";
import { FileError, type FileErrorCode } from "./file_error.ts";
import { denoFiles, type Files, readTextIfPresent } from "./files.ts";
import { MemoryFiles } from "./memory_files.ts";
import { temporaryDirectory } from "./testing.ts";

interface Case {
  readonly name: string;
  readonly run: (files: Files, root: string) => void;
}

/** What every {@linkcode Files} does, in an empty directory `root`. */
const SUITE: readonly Case[] = [
  {
    name: "reads back what was written",
    run(files, root) {
      files.writeAtomic(`${root}/a`, "grüß dich\n");
      assertEquals(files.readText(`${root}/a`), "grüß dich\n");
      files.writeAtomic(`${root}/a`, new Uint8Array([0, 255]));
      assertEquals([...files.readBytes(`${root}/a`)], [0, 255]);
      files.writeAtomic(`${root}/a`, "");
      assertEquals(files.readText(`${root}/a`), "");
    },
  },
  {
    name: "describes files and directories",
    run(files, root) {
      files.writeAtomic(`${root}/a`, "12345", { mode: 0o600 });
      const { kind, size, mode } = files.stat(`${root}/a`) ?? {};
      assertEquals({ kind, size, mode }, { kind: "file", size: 5, mode: 0o600 });
      assertEquals(files.stat(root)?.kind, "directory");
      assertEquals(files.stat(`${root}/missing`), undefined);
    },
  },
  {
    name: "lists a directory by name and leaves no temporary file in it",
    run(files, root) {
      files.makeDirectory(`${root}/d/deeper`);
      for (const name of ["b", "a", "B"]) files.writeAtomic(`${root}/d/${name}`, "");
      assertEquals(files.list(`${root}/d`), [
        { name: "B", kind: "file" },
        { name: "a", kind: "file" },
        { name: "b", kind: "file" },
        { name: "deeper", kind: "directory" },
      ]);
    },
  },
  {
    name: "accepts a directory that exists, and a removal of nothing",
    run(files, root) {
      files.makeDirectory(`${root}/d`);
      files.makeDirectory(`${root}/d`);
      assertEquals(files.remove(`${root}/d`), true);
      assertEquals(files.remove(`${root}/d`), false);
    },
  },
  {
    name: "renames over a file",
    run(files, root) {
      files.writeAtomic(`${root}/old`, "old");
      files.writeAtomic(`${root}/new`, "new");
      files.rename(`${root}/new`, `${root}/old`);
      assertEquals(files.readText(`${root}/old`), "new");
      assertEquals(files.stat(`${root}/new`), undefined);
    },
  },
  {
    name: "renames a directory with what is in it",
    run(files, root) {
      files.makeDirectory(`${root}/d`);
      files.writeAtomic(`${root}/d/a`, "a");
      files.rename(`${root}/d`, `${root}/e`);
      assertEquals(files.readText(`${root}/e/a`), "a");
      assertEquals(files.stat(`${root}/d/a`), undefined);
    },
  },
  {
    name: "reads a missing file as undefined, where asked",
    run(files, root) {
      files.writeAtomic(`${root}/a`, "a");
      assertEquals(readTextIfPresent(files, `${root}/a`), "a");
      assertEquals(readTextIfPresent(files, `${root}/b`), undefined);
      assertThrows(() => readTextIfPresent(files, root), FileError);
    },
  },
  {
    name: "fails with a code for each cause",
    run(files, root) {
      files.makeDirectory(`${root}/d`);
      files.makeDirectory(`${root}/empty`);
      files.writeAtomic(`${root}/d/a`, "a");
      const table: [code: FileErrorCode, action: () => unknown][] = [
        ["NotFound", () => files.readText(`${root}/missing`)],
        ["NotFound", () => files.list(`${root}/missing`)],
        ["NotFound", () => files.writeAtomic(`${root}/missing/a`, "")],
        ["NotFound", () => files.rename(`${root}/missing`, `${root}/x`)],
        ["NotFound", () => files.rename(`${root}/d/a`, `${root}/missing/a`)],
        ["IsDirectory", () => files.readText(`${root}/d`)],
        ["IsDirectory", () => files.writeAtomic(`${root}/d`, "")],
        ["IsDirectory", () => files.rename(`${root}/d/a`, `${root}/empty`)],
        ["NotDirectory", () => files.list(`${root}/d/a`)],
        ["NotEmpty", () => files.remove(`${root}/d`)],
      ];
      for (const [code, action] of table) {
        const error = assertThrows(action, FileError);
        assertEquals(error.code, code, error.message);
        assert(error.path.startsWith(root), error.path);
      }
    },
  },
];

for (const { name, run } of SUITE) {
  Deno.test(`denoFiles ${name}`, () => {
    using root = temporaryDirectory();
    run(denoFiles, root.path);
  });
  Deno.test(`MemoryFiles ${name}`, () => run(new MemoryFiles({ "/root/.keep": "" }), "/root"));
}

Deno.test("denoFiles tells operation, path and reason", () => {
  assertThrows(
    () => denoFiles.readText("/nonexistent/x"),
    FileError,
    "Cannot read file /nonexistent/x: it does not exist",
  );
  assertThrows(
    () => denoFiles.rename("/nonexistent/x", "/nonexistent/y"),
    FileError,
    "Cannot rename file /nonexistent/x to /nonexistent/y: it does not exist",
  );
});

Deno.test("denoFiles follows links when it reads, not when it lists", () => {
  using root = temporaryDirectory();
  denoFiles.writeAtomic(`${root.path}/a`, "a");
  Deno.symlinkSync("a", `${root.path}/link`);
  assertEquals(denoFiles.readText(`${root.path}/link`), "a");
  assertEquals(denoFiles.stat(`${root.path}/link`)?.kind, "file");
  assertEquals(denoFiles.list(root.path)[1], { name: "link", kind: "symlink" });
});

Deno.test("denoFiles keeps an error that is no state of the disk as it is", () => {
  assertThrows(() => denoFiles.readText(Symbol("bug") as unknown as string), TypeError);
});

Deno.test("MemoryFiles plants one failure", () => {
  const files = new MemoryFiles({ "/etc/x": "x" });
  files.failNext("/etc/x", "NoSpace");
  const error = assertThrows(() => files.writeAtomic("/etc/x", "y"), FileError);
  assertEquals(error.code, "NoSpace");
  assertEquals(error.remedy, "Free space or inodes where /etc/x is: df -h; df -i");
  assertEquals(files.snapshot(), { "/etc/x": "x" });
  files.writeAtomic("/etc/x", "y");
  assertEquals(files.snapshot(), { "/etc/x": "y" });
});
