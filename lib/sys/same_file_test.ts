import { assertEquals } from "@std/assert";
import { isSameFile } from "./same_file.ts";
import { temporaryDirectory } from "./testing.ts";

Deno.test("isSameFile() follows links, and a path that leads nowhere equals none", () => {
  using directory = temporaryDirectory();
  const [file, other, link] = ["file", "other", "link"].map((name) => `${directory.path}/${name}`);
  Deno.writeTextFileSync(`${file}`, "");
  Deno.writeTextFileSync(`${other}`, "");
  Deno.symlinkSync(`${file}`, `${link}`);
  assertEquals(isSameFile(`${file}`, `${link}`), true);
  assertEquals(isSameFile(`${file}`, `${other}`), false);
  assertEquals(isSameFile(`${file}/x`, `${file}/x`), false);
});
