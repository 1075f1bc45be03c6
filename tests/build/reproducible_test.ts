/** The same tree gives the same program, byte for byte, wherever and whenever it is built. */

import { assertEquals } from "@std/assert";
import { temporaryDirectory } from "../binary/program.ts";
import { build, copyTree } from "./copy.ts";

async function sha256(path: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", await Deno.readFile(path));
  return new Uint8Array(digest).toHex();
}

Deno.test("two copies of the tree, built in different directories, give the same bytes", async () => {
  await using first = temporaryDirectory();
  await using second = temporaryDirectory();
  const hashes: string[] = [];
  for (const { path } of [first, second]) {
    await copyTree(path);
    const { code, says } = await build(path, { args: [] });
    assertEquals(code, 0, says);
    hashes.push(await sha256(`${path}/dist/headcni`));
  }
  assertEquals(hashes[0], hashes[1]);
});
