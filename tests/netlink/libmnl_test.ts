/** libmnl from memory, as the compiled program carries it. */

import { assertEquals } from "@std/assert";
import { type LibmnlSource, libmnlSource } from "../../lib/netlink/libmnl.ts";
import { runScript } from "./fixture.ts";

function load(directory: string, choice: LibmnlSource): unknown {
  const { stdout, stderr } = runScript(
    `
    import * as mnl from "${new URL("../../lib/netlink/libmnl.ts", import.meta.url)}";
    import { setEmbeddedFiles } from "${new URL(
      "../../lib/sys/embedded_file.ts",
      import.meta.url,
    )}";
    setEmbeddedFiles("file://${directory}/entry.js");
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
    Deno.copyFileSync(libmnlSource().path, `${directory}/libmnl.so.0`);
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
