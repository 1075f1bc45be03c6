/** The compiled program as a person calls it. Exit codes are documented in docs/cli.md. */

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { requires, tool } from "../requires.ts";
import { PROGRAM, run } from "./program.ts";

/** What was typed, the exit code, and what must be said on standard error. */
const MISTAKES: readonly [args: string[], says: string[]][] = [
  [["verson"], ['command "verson"', "Did you mean version?", "See: headcni --help"]],
  [["frobnicate"], ['command "frobnicate"', "no such command"]],
  [["version", "--jsn"], ["flag --jsn", "Did you mean --json?", "See: headcni version --help"]],
  [["--bogus"], ["flag --bogus", "no such flag"]],
  [["-x"], ["flag -x"]],
  [["--color"], ["--color", "needs a value: auto, always, never"]],
  [["version", "--color="], ["--color", "needs a value"]],
  [["--color", "sometimes", "version"], ['--color "sometimes"', "auto, always, never"]],
  [["version", "extra"], ['argument "extra"', "version takes no argument"]],
  [["completion"], ["SHELL is missing: bash, zsh, fish"]],
  [["completion", "bsh"], ['SHELL "bsh"', "Did you mean bash?"]],
  [["completion", "bash", "zsh"], ['argument "zsh"']],
  [["help", "versoin"], ['command "versoin"', "Did you mean version?"]],
  [["--color", "auto"], ["a command is missing"]],
];

for (const [args, says] of MISTAKES) {
  Deno.test(`headcni ${args.join(" ")} exits with 2 and says what is wrong`, async () => {
    const { code, stdout, stderr } = await run(args);
    assertEquals([code, stdout], [2, ""]);
    for (const text of says) assertStringIncludes(stderr, text);
  });
}

/** Ways to ask for help, and the command it must be about. */
const HELP: readonly [args: string[], usage: string][] = [
  [["--help"], "headcni COMMAND [flags]"],
  [["-h"], "headcni COMMAND [flags]"],
  [["help"], "headcni COMMAND [flags]"],
  [["help", "version"], "headcni version [flags]"],
  [["version", "--help"], "headcni version [flags]"],
  [["--help", "version"], "headcni version [flags]"],
  [["version", "--bogus", "--help"], "headcni version [flags]"],
  [["completion", "-h"], "headcni completion SHELL [flags]"],
  [["help", "--help"], "headcni help [COMMAND] [flags]"],
];

for (const [args, usage] of HELP) {
  Deno.test(`headcni ${args.join(" ")} explains itself on standard output`, async () => {
    const { code, stdout, stderr } = await run(args);
    assertEquals([code, stderr], [0, ""]);
    for (const text of [usage, "Examples:", "Exit codes:"]) assertStringIncludes(stdout, text);
  });
}

Deno.test("headcni alone prints help with the CNI versions, off standard output", async () => {
  const { code, stdout, stderr } = await run([]);
  assertEquals([code, stdout], [0, ""]);
  assertStringIncludes(stderr, "0.1.0, 0.2.0, 0.3.0, 0.3.1, 0.4.0, 1.0.0, 1.1.0");
});

Deno.test("version --json names everything a bug report needs", async () => {
  const { code, stdout } = await run(["version", "--json"]);
  const facts = JSON.parse(stdout);
  assertEquals(code, 0);
  const config = JSON.parse(await Deno.readTextFile(new URL("../../deno.json", import.meta.url)));
  assertEquals(facts.version, config.version);
  assertMatch(facts.commit, /^([0-9a-f]{12}(-dirty)?|unknown)$/);
  assertEquals([facts.deno, facts.v8], [Deno.version.deno, Deno.version.v8]);
  assertEquals(facts.target, Deno.build.target);
  const lock = await Deno.readFile(new URL("../../deno.lock", import.meta.url));
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", lock)).toHex();
  assertEquals(facts.lockHash, hash);
  assertEquals(facts.libmnl.source, "system");
  assertStringIncludes(facts.libmnl.path, "/libmnl.so.0");
});

Deno.test("--version and version say the same", async () => {
  assertEquals(await run(["--version"]), await run(["version"]));
});

/** Runs the program on a pseudo-terminal and returns what appeared on it. */
async function onTerminal(args: string, env: Record<string, string> = {}): Promise<string> {
  const { stdout } = await run(["-qec", `${PROGRAM} ${args}`, "/dev/null"], {
    program: "/usr/bin/script",
    env: { TERM: "xterm", ...env },
  });
  return stdout;
}

// deno-lint-ignore no-control-regex -- the colour codes are the point
const COLOUR = /\x1b\[/;

Deno.test({
  ...requires(tool("script", "bsdutils")),
  name: "headcni alone on a terminal prints help, in colour",
  async fn() {
    assertMatch(await onTerminal(""), COLOUR);
  },
});

Deno.test({
  ...requires(tool("script", "bsdutils")),
  name: "NO_COLOR switches colour off, whatever --color says",
  async fn() {
    const text = await onTerminal("--color always --help", { NO_COLOR: "1" });
    assertStringIncludes(text, "Usage:");
    assertEquals(COLOUR.test(text), false);
  },
});

Deno.test("colour is off in a pipe and on with --color always", async () => {
  assertEquals(COLOUR.test((await run(["--help"])).stdout), false);
  assertEquals(COLOUR.test((await run(["--help", "--color=always"])).stdout), true);
});
