/** The completion scripts, in the shells themselves. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { requires, tool } from "../requires.ts";
import { PROGRAM, run, temporaryDirectory } from "./program.ts";

/** A directory with `headcni` in it, for PATH, and the completion script of `shell`. */
async function prepare(shell: string, directory: string): Promise<string> {
  await Deno.symlink(PROGRAM, `${directory}/headcni`);
  const { code, stdout } = await run(["completion", shell]);
  assertEquals(code, 0);
  await Deno.writeTextFile(`${directory}/script`, stdout);
  return `${directory}:/usr/bin:/bin`;
}

/** Types `keys` into an interactive shell on a pseudo-terminal; returns the screen. */
async function type(
  shell: string,
  keys: string,
  options: { path: string; home: string },
): Promise<string> {
  const child = new Deno.Command("/usr/bin/script", {
    args: ["-qec", shell, "/dev/null"],
    clearEnv: true,
    env: { PATH: options.path, HOME: options.home, TERM: "dumb", PS1: "$ " },
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const writer = child.stdin.getWriter();
  // A line editor drops what is typed before it is ready: one line at a time, on its prompt.
  for (const line of keys.split("\n")) {
    await new Promise((resolve) => setTimeout(resolve, 700));
    await writer.write(new TextEncoder().encode(line + "\r"));
  }
  const screen = await new Response(child.stdout).text();
  await writer.close().catch(() => {}); // the shell may have gone already
  await child.status;
  return screen;
}

const COMMIT_SHOWN = '"lockHash":';

Deno.test({
  ...requires(tool("bash"), tool("script", "bsdutils")),
  name: "bash: typing `headcni ver<TAB>--js<TAB>` runs `headcni version --json`",
  async fn() {
    await using directory = temporaryDirectory();
    const path = await prepare("bash", directory.path);
    const keys = `source ${directory.path}/script\nheadcni ver\t--js\t\nexit`;
    const screen = await type("bash --norc --noprofile -i", keys, { path, home: directory.path });
    assertStringIncludes(screen, COMMIT_SHOWN);
  },
});

Deno.test({
  ...requires(tool("zsh"), tool("script", "bsdutils")),
  name: "zsh: typing `headcni ver<TAB>--js<TAB>` runs `headcni version --json`",
  async fn() {
    await using directory = temporaryDirectory();
    const path = await prepare("zsh", directory.path);
    const keys = `autoload -U compinit && compinit -u -D\nsource ${directory.path}/script\n` +
      "headcni ver\t--js\t\nexit";
    const screen = await type("zsh -f -i", keys, { path, home: directory.path });
    assertStringIncludes(screen, COMMIT_SHOWN);
  },
});

Deno.test({
  ...requires(tool("zsh"), tool("script", "bsdutils")),
  name: "zsh: the script works from a directory of fpath, too",
  async fn() {
    await using directory = temporaryDirectory();
    const path = await prepare("zsh", directory.path);
    await Deno.rename(`${directory.path}/script`, `${directory.path}/_headcni`);
    const keys = `fpath=(${directory.path} $fpath)\nautoload -U compinit && compinit -u -D\n` +
      "headcni ver\t--js\t\nexit";
    const screen = await type("zsh -f -i", keys, { path, home: directory.path });
    assertStringIncludes(screen, COMMIT_SHOWN);
  },
});

/** What was typed, and what must be offered. */
const OFFERS: readonly [line: string, words: string[]][] = [
  ["headcni ", ["completion", "help", "ipam", "tailnet", "version"]],
  ["headcni tailnet ", ["leave", "run", "status"]],
  ["headcni ipam re", ["release", "reserve"]],
  ["headcni ipam check --d", ["--data-dir", "--details"]],
  ["headcni ipam import ", ["host-local"]],
  ["headcni --c", ["--color"]],
  ["headcni version --", ["--color", "--help", "--json"]],
  ["headcni completion ", ["bash", "fish", "zsh"]],
  ["headcni help v", ["version"]],
  ["headcni --color ", ["always", "auto", "never"]],
  ["headcni --color al", ["always"]],
  ["headcni --color auto ver", ["version"]],
  ["headcni version --color n", ["never"]],
];

Deno.test({
  ...requires(tool("bash")),
  name: "bash offers exactly the words that fit",
  async fn() {
    await using directory = temporaryDirectory();
    await prepare("bash", directory.path);
    for (const [line, words] of OFFERS) {
      const script = `source ${directory.path}/script; COMP_WORDS=($0); ` +
        `[[ $0 == *' ' ]] && COMP_WORDS+=(''); COMP_CWORD=$((\${#COMP_WORDS[@]}-1)); ` +
        "_headcni; printf '%s\\n' \"${COMPREPLY[@]}\"";
      const { stdout } = await run(["-c", script, line], { program: "/bin/bash" });
      assertEquals(stdout.trim().split("\n").sort(), words, line);
    }
  },
});

Deno.test({
  ...requires(tool("fish")),
  name: "fish offers exactly the words that fit",
  async fn() {
    await using directory = temporaryDirectory();
    const path = await prepare("fish", directory.path);
    for (const [line, words] of OFFERS) {
      const { stdout } = await run(
        ["--no-config", "-c", `source ${directory.path}/script; complete -C '${line}'`],
        { program: "/usr/bin/fish", env: { PATH: path, HOME: directory.path } },
      );
      const offered = stdout.trim().split("\n").map((offer) => offer.split("\t")[0] ?? "");
      assertEquals(offered.sort(), words, line);
    }
  },
});
