/** The library to embed is fetched when the build machine has none of the right kind. */

import { assertEquals } from "@std/assert";
import { temporaryDirectory } from "../binary/program.ts";
import { requires, tool } from "../requires.ts";

const LIBMNL = new URL("../../tools/build/libmnl.ts", import.meta.url).href;
const ELF = new URL("../../tools/build/elf.ts", import.meta.url).href;

Deno.test({
  ...requires(tool("apt-get", "apt"), tool("dpkg-deb", "dpkg")),
  name: "libmnl for a foreign processor comes from Debian, and nothing is installed",
  async fn() {
    await using directory = temporaryDirectory();
    const program =
      `import { findLibmnl } from "${LIBMNL}"; import { elfArchitecture } from "${ELF}";
      Deno.stdout.writeSync(new TextEncoder().encode(elfArchitecture(await findLibmnl("arm64"))));`;
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["eval", program],
      env: { HEADCNI_CACHE: directory.path },
    }).output();
    const text = new TextDecoder();
    assertEquals([code, text.decode(stdout)], [0, "arm64"], text.decode(stderr));
    const cached = [...Deno.readDirSync(`${directory.path}/libmnl`)].map((file) => file.name);
    assertEquals(cached, ["arm64.so"]);
  },
});
