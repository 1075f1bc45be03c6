import { assertEquals, assertRejects } from "@std/assert";
import { runPlugin } from "../../../lib/cni/plugin_face.ts";
import { type Plugin, rehearse } from "./rehearse.ts";

Deno.test("rehearse() adds and deletes pods without touching anything but its directory", async () => {
  // Not the one of lib/sys/testing.ts: it opens the real libc before anybody can pretend.
  const directory = await Deno.makeTempDir();
  const { dlopen } = Deno;
  try {
    await rehearse({ runPlugin } as Plugin, directory);
    assertEquals(Deno.dlopen, dlopen);
    assertEquals((await Deno.stat(`${directory}/headcni.db`)).isFile, true);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

Deno.test("rehearse() tells what the plugin answered when a call fails", async () => {
  const plugin: Plugin = {
    runPlugin(_face, io) {
      (io as { stdout: { write(text: string): void } }).stdout.write("no such luck");
      return Promise.resolve(1);
    },
  };
  await assertRejects(() => rehearse(plugin, "/nonexistent"), Error, "ADD: no such luck");
});
