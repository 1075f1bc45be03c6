import { assertEquals, assertThrows } from "@std/assert";
import { FileError } from "./file_error.ts";
import {
  checkPrivateFile,
  checkWritable,
  createPrivateFile,
  ensurePrivateDirectory,
  openToAppend,
  publishFile,
} from "./private_path.ts";
import { temporaryDirectory } from "./testing.ts";

function modeOf(path: string): number {
  return (Deno.statSync(path).mode ?? 0) & 0o7777;
}

Deno.test("ensurePrivateDirectory() creates with 0700 and tightens what others may read", () => {
  using root = temporaryDirectory();
  const path = `${root.path}/a/b`;
  ensurePrivateDirectory(path);
  assertEquals(modeOf(path), 0o700);
  Deno.chmodSync(path, 0o755);
  ensurePrivateDirectory(path);
  assertEquals(modeOf(path), 0o700);
});

Deno.test("ensurePrivateDirectory() refuses links, files and what others may write", () => {
  using root = temporaryDirectory();
  Deno.mkdirSync(`${root.path}/open`);
  Deno.chmodSync(`${root.path}/open`, 0o770);
  Deno.symlinkSync(`${root.path}/open`, `${root.path}/link`);
  Deno.writeTextFileSync(`${root.path}/file`, "");
  const refused = [["open", "lets others change it"], ["link", "symbolic link"], [
    "file",
    "not a directory",
  ]];
  for (const [name, reason] of refused) {
    assertThrows(() => ensurePrivateDirectory(`${root.path}/${name}`), FileError, reason);
  }
});

Deno.test("checkPrivateFile() returns the size and closes the file to readers", () => {
  using root = temporaryDirectory();
  const path = `${root.path}/file`;
  assertEquals(checkPrivateFile(path), undefined);
  Deno.writeTextFileSync(path, "12345");
  Deno.chmodSync(path, 0o644);
  assertEquals([checkPrivateFile(path), modeOf(path)], [5, 0o600]);
  Deno.symlinkSync(path, `${root.path}/link`);
  assertThrows(() => checkPrivateFile(`${root.path}/link`), FileError, "symbolic link");
});

Deno.test("publishFile() gives a file its name, and never replaces one", () => {
  using root = temporaryDirectory();
  const [temporary, path] = [`${root.path}/.new`, `${root.path}/file`];
  createPrivateFile(temporary);
  assertEquals([publishFile(temporary, path), modeOf(path)], [true, 0o600]);
  Deno.writeTextFileSync(temporary, "second");
  assertEquals(publishFile(temporary, path), false);
  assertEquals([...Deno.readDirSync(root.path)].map(({ name }) => name), ["file"]);
  assertEquals(Deno.readTextFileSync(path), "");
});

Deno.test("createPrivateFile() does not touch what is there, checkWritable() changes nothing", () => {
  using root = temporaryDirectory();
  const path = `${root.path}/file`;
  Deno.writeTextFileSync(path, "old");
  assertThrows(() => createPrivateFile(path), FileError, "it exists already");
  checkWritable(path);
  assertEquals(Deno.readTextFileSync(path), "old");
  assertThrows(() => checkWritable(`${root.path}/none`), FileError, "does not exist");
});

Deno.test("openToAppend() makes a file, and goes on with it", () => {
  using directory = temporaryDirectory();
  const path = `${directory.path}/log`;
  for (const text of ["one\n", "two\n"]) {
    using file = openToAppend(path);
    file.writeSync(new TextEncoder().encode(text));
  }
  assertEquals(Deno.readTextFileSync(path), "one\ntwo\n");
  assertEquals(modeOf(path), 0o600);
});

Deno.test("openToAppend() follows no link, not even to make a file", () => {
  using directory = temporaryDirectory();
  Deno.symlinkSync(`${directory.path}/target`, `${directory.path}/log`);
  assertThrows(() => openToAppend(`${directory.path}/log`), FileError, "links are not followed");
  assertEquals([...Deno.readDirSync(directory.path)].length, 1);
});

Deno.test("openToAppend() keeps out of directories that are everybody's", () => {
  using directory = temporaryDirectory();
  Deno.chmodSync(directory.path, 0o1777);
  assertThrows(() => openToAppend(`${directory.path}/log`), FileError, "everybody may put names");
});
