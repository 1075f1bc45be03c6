/** `deno task demo`, the first command of the README, as somebody's first minute. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { requires, root, tool } from "./requires.ts";

const ROOT = new URL("..", import.meta.url).pathname;

async function demo(args: readonly string[], before: readonly string[] = []) {
  const task = [Deno.execPath(), "run", "--node-modules-dir=none", "-A", "tools/demo.ts", ...args];
  const [program = "", ...rest] = [...before, ...task];
  const { code, stdout, stderr } = await new Deno.Command(program, {
    args: rest,
    cwd: ROOT,
    env: { DENO_TLS_CA_STORE: "system,mozilla" },
    stdin: "null",
  }).output();
  const text = new TextDecoder();
  return { code, stdout: text.decode(stdout), stderr: text.decode(stderr) };
}

/** Names of the demo's things in `directory`. */
function demoNames(directory: string): string[] {
  return [...Deno.readDirSync(directory)].map(({ name }) => name)
    .filter((name) => name.startsWith("headcni-demo-")).sort();
}

Deno.test({
  ...requires(root, tool("ip", "iproute2"), tool("nft", "nftables"), tool("ping", "iputils-ping")),
  name: "the demo gives two pods a network, lets them talk, and leaves nothing behind",
  async fn() {
    const places = ["/run/netns", "/tmp"];
    const before = places.map(demoNames);
    const { code, stdout, stderr } = await demo([]);
    assertEquals(code, 0, `${stdout}\n${stderr}`);
    assertMatch(stdout, /pod-a +eth0 +10\.244\.0\.2\/24 +10\.244\.0\.1 +hcni[0-9a-z]{11} +1280/);
    assertMatch(stdout, /pod-b +eth0 +10\.244\.0\.3\/24/);
    assertMatch(stdout, /│ eth0 +├────┤ hcni[0-9a-z]{11} hcni[0-9a-z]{11} ├────┤ eth0 +│/);
    for (const way of ["pod-a → pod-b", "pod-b → pod-a", "pod-a → gateway"]) {
      assertMatch(stdout, new RegExp(`ping ${way} .*3 of 3 answered +\\d+\\.\\d+ ms`));
    }
    for (const what of ["an empty compiled program", "ADD pod-a", "DEL pod-b"]) {
      assertMatch(stdout, new RegExp(`${what} +\\d+ ms`));
    }
    assertMatch(stdout, /attachments in the store +0 before +0 after +nothing new/);
    assertStringIncludes(stdout, "the demo's namespaces and files: removed");
    // Not a terminal: no colours. Narrow enough for one of 80 columns, the command apart.
    assert(!stdout.includes("\x1b"), "there are escape sequences");
    const wide = stdout.split("\n").filter((line) => line.length > 80 && !line.includes("<<<"));
    assertEquals(wide, []);
    assertEquals(places.map(demoNames), before);
  },
});

Deno.test("the demo explains itself, and refuses arguments it does not know", async () => {
  const help = await demo(["--help"]);
  assertEquals([help.code, help.stderr], [0, ""]);
  assertStringIncludes(help.stdout, "Usage: deno task demo");
  const wrong = await demo(["--fast"]);
  assertEquals([wrong.code, wrong.stdout], [2, ""]);
  assertStringIncludes(wrong.stderr, 'Cannot use argument "--fast"');
});

Deno.test({
  ...requires(root, tool("unshare", "util-linux")),
  name: "the demo says that it needs root, and how to get it",
  async fn() {
    // A user of another number who owns the same files.
    const { code, stdout, stderr } = await demo([], ["unshare", "--user", "--map-user=1000"]);
    assertEquals([code, stdout], [1, ""]);
    assertStringIncludes(stderr, "demo: Cannot make network namespaces without root");
    assertStringIncludes(stderr, "sudo npx -y deno@2.5.7 task demo");
  },
});
