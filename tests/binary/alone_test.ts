/** The program needs nothing beside it, and touches nothing it was not asked to. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { requires, root, tool } from "../requires.ts";
import { PROGRAM, run, temporaryDirectory } from "./program.ts";

/** Runs a shell script with `$0` set to `argument`; all tools found in the usual places. */
async function shell(script: string, argument: string): Promise<string> {
  const { code, stdout, stderr } = await run(["-ec", script, argument], {
    program: "/bin/bash",
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" },
  });
  assertEquals(code, 0, `${script}\n${stdout}${stderr}`);
  return stdout;
}

/** A root directory that holds the C library (and what Debian's depends on) and nothing else. */
async function bareRoot(directory: string): Promise<void> {
  await shell(
    `for library in $(ldd ${PROGRAM} | grep -oE '/[^ ]+'); do
       mkdir -p "$0$(dirname "$library")"; cp -L "$library" "$0$library"
     done
     mkdir "$0/proc" "$0/somewhere"; cp ${PROGRAM} "$0/somewhere/headcni"`,
    directory,
  );
}

Deno.test("the program is smaller than 100 MB", async () => {
  assert((await Deno.stat(PROGRAM)).size < 100_000_000);
});

Deno.test({
  ...requires(root, tool("unshare", "util-linux"), tool("chroot", "coreutils")),
  name: "the program runs alone in a root directory that has only the C library, mounted read-only",
  async fn() {
    await using directory = temporaryDirectory();
    await bareRoot(directory.path);
    // In a mount namespace of its own: nothing to unmount, whatever happens.
    const inside = (env: string, command: string) =>
      shell(
        `unshare --mount --pid --fork bash -ec '
           mount --bind "$0" "$0"
           mount -t proc proc "$0/proc"
           mount -o remount,bind,ro "$0"
           ! touch "$0/somewhere/file" 2>/dev/null
           exec env -i ${env} /usr/sbin/chroot "$0" /somewhere/headcni ${command}' "$0"`,
        directory.path,
      );
    const version = await inside("", "version");
    assertStringIncludes(version, "headcni 0.");
    assertStringIncludes(version, "libmnl  embedded, /memfd:"); // this node has none of its own
    assertStringIncludes(await inside("CNI_COMMAND=VERSION", ""), "supportedVersions");
  },
});

/** System calls that name a file, one per line, of a run with the environment `env`. */
async function fileCalls(env: Record<string, string>, args: readonly string[]): Promise<string[]> {
  await using directory = temporaryDirectory();
  const program = "/usr/local/lib/headcni-test"; // not below /tmp, where the temporary directory is
  await Deno.copyFile(PROGRAM, program);
  try {
    const trace = `${directory.path}/trace`;
    const { code, stderr } = await run(
      ["-f", "-e", "trace=%file", "-o", trace, program, ...args],
      { program: "/usr/bin/strace", env, cwd: "/" },
    );
    assertEquals(code, 0, stderr);
    return (await Deno.readTextFile(trace)).split("\n").filter((line) => line.includes('"/'));
  } finally {
    await Deno.remove(program);
  }
}

/** How the program may be run, and the environment it gets. */
const RUNS: readonly [title: string, env: Record<string, string>, args: string[]][] = [
  ["as a plugin", { CNI_COMMAND: "VERSION" }, []],
  ["as a plugin with TMPDIR", { CNI_COMMAND: "VERSION", TMPDIR: "/var/tmp" }, []],
  ["by a person", { HOME: "/root", TMPDIR: "/tmp", PATH: "/usr/bin" }, ["version", "--json"]],
  ["with an empty environment", {}, ["version"]],
  ["with the embedded libmnl", { HEADCNI_LIBMNL: "embedded" }, ["version"]],
  ["for a completion script", {}, ["completion", "bash"]],
];

for (const [title, env, args] of RUNS) {
  Deno.test({
    ...requires(root, tool("strace")),
    name: `run ${title}, the program neither makes nor reads a file for temporary data`,
    async fn() {
      const calls = await fileCalls(env, args);
      assert(calls.some((call) => call.includes("headcni-test")), "the trace shows file calls");
      assertEquals(calls.filter((call) => /"\/(var\/)?tmp/.test(call)), []);
      // Nothing is opened for writing but memory: the embedded libmnl goes into a memfd.
      const writing = calls.filter((call) => /O_WRONLY|O_RDWR|O_CREAT|mkdir|rename/.test(call));
      assertEquals(writing.filter((call) => !call.includes('"/proc/self/fd/')), []);
    },
  });
}

Deno.test("a code cache planted under the program's name in /tmp is not used", async () => {
  const planted = "/tmp/deno-compile-headcni.cache";
  await Deno.writeTextFile(planted, "planted", { createNew: true });
  try {
    const { code, stderr } = await run(["version"]);
    assertEquals([code, stderr], [0, ""]);
    assertEquals(await Deno.readTextFile(planted), "planted");
  } finally {
    await Deno.remove(planted);
  }
});
