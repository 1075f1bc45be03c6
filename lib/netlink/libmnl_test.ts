import { assertEquals, assertStringIncludes } from "@std/assert";

/** What a new process says about the library, with HEADCNI_LIBMNL set to `choice`. */
function load(choice: string): { stdout: string; stderr: string } {
  const module = new URL("libmnl.ts", import.meta.url).href;
  const program = `import { libmnlSource } from "${module}"; console.log(libmnlSource().source);`;
  const { stdout, stderr } = new Deno.Command(Deno.execPath(), {
    args: ["eval", program],
    env: { HEADCNI_LIBMNL: choice, NO_COLOR: "1" },
  }).outputSync();
  const text = new TextDecoder();
  return { stdout: text.decode(stdout).trim(), stderr: text.decode(stderr) };
}

Deno.test("HEADCNI_LIBMNL=embedded fails plainly where no copy is embedded", () => {
  const { stdout, stderr } = load("embedded");
  assertEquals(stdout, "");
  assertStringIncludes(
    stderr,
    "LibmnlError: Cannot load embedded libmnl.so.0: this program carries no copy",
  );
});

Deno.test("HEADCNI_LIBMNL accepts no other word", () => {
  assertStringIncludes(
    load("newest").stderr,
    'Cannot load libmnl.so.0: HEADCNI_LIBMNL is "newest" instead of "system" or "embedded"',
  );
});
