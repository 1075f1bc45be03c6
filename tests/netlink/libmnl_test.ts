/** libmnl from memory, as the compiled program carries it. */

import { assertEquals } from "@std/assert";
import { type LibmnlSource, libmnlSource } from "../../lib/netlink/libmnl.ts";
import { runScript } from "./fixture.ts";

/** A copy of the tree's sources with the library beside them, as the build lays them out. */
function layOut(directory: string): void {
  const root = new URL("../../", import.meta.url);
  const folders = ["lib/netlink", "lib/netlink/constants", "lib/sys"];
  for (const folder of folders) {
    Deno.mkdirSync(`${directory}/${folder}`, { recursive: true });
    for (const { name, isFile } of Deno.readDirSync(new URL(folder, root))) {
      if (!isFile || name.endsWith("_test.ts")) continue;
      Deno.copyFileSync(new URL(`${folder}/${name}`, root), `${directory}/${folder}/${name}`);
    }
  }
  Deno.copyFileSync(libmnlSource().path, `${directory}/lib/netlink/libmnl.so.0`);
}

function load(directory: string, choice: LibmnlSource): unknown {
  const { stdout, stderr } = runScript(
    `
    import * as mnl from "file://${directory}/lib/netlink/libmnl.ts";
    const handle = mnl.openHandle(0, 0);
    mnl.bindHandle(handle, 0);
    console.log(JSON.stringify({ ...mnl.libmnlSource(), bound: mnl.portIdOf(handle) !== 0 }));
    mnl.closeHandle(handle);
    `,
    ["env", `HEADCNI_LIBMNL=${choice}`],
  );
  return JSON.parse(stdout === "" ? JSON.stringify(stderr) : stdout);
}

Deno.test("the embedded library is loaded from memory and works", () => {
  const directory = Deno.makeTempDirSync({ prefix: "headcni-test-" });
  try {
    layOut(directory);
    assertEquals(load(directory, "embedded"), {
      source: "embedded",
      path: "/memfd:libmnl.so.0",
      bound: true,
    });
    assertEquals(load(directory, "system"), { ...libmnlSource(), bound: true });
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
});
