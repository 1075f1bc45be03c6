import { assertEquals, assertRejects } from "@std/assert";
import { runPlugin } from "../../../lib/cni/plugin_face.ts";
import { type Plugin, rehearse } from "./rehearse.ts";

Deno.test("rehearse() adds and deletes pods without touching anything but its directory", async () => {
  using directory = temporaryDirectory();
  const { dlopen } = Deno;
  await rehearse({ runPlugin } as Plugin, directory.path);
  assertEquals(Deno.dlopen, dlopen);
  assertEquals(
    [...Deno.readDirSync(directory.path)].some(({ name }) => name === "headcni.db"),
    true,
  );
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
