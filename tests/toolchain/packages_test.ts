/**
 * The toolchain carries the packages the product is made of: bundled, code-split,
 * compiled, and loaded only by the face that uses them.
 */

import { assert, assertEquals } from "@std/assert";
import { bundle } from "../../tools/build/bundle.ts";
import { compile } from "../../tools/build/compile.ts";
import { runtimePin } from "../../tools/build/pins.ts";
import { findRuntime } from "../../tools/build/runtime.ts";
import { isTarget } from "../../tools/build/targets.ts";
import { run, temporaryDirectory } from "../binary/program.ts";

const ENTRY = new URL("../fixtures/faces/entry.ts", import.meta.url).pathname;

Deno.test("YAML, metrics and Kubernetes packages work compiled, and load only where used", async () => {
  const target = Deno.build.target;
  assert(isTarget(target));
  await using directory = temporaryDirectory();
  const entry = await bundle(ENTRY, `${directory.path}/bundle`);
  const program = `${directory.path}/program`;
  const runtime = await findRuntime(target, runtimePin(target));
  const bytes = await compile(entry, program, { target, runtime });
  assert(bytes.length < 100_000_000, `${bytes.length} bytes`);

  const daemon = await run([], { program });
  assertEquals(JSON.parse(daemon.stdout || daemon.stderr), {
    yaml: { answer: [4, 2] },
    server: "https://127.0.0.1:6443",
    metrics: true,
  });
  const plugin = await run([], { program, env: { CNI_COMMAND: "VERSION" } });
  assertEquals(JSON.parse(plugin.stdout || plugin.stderr), { loaded: [] });
});
