/**
 * The only entry of the program: chooses the face, then loads it.
 *
 * Nothing is imported statically. A container runtime calls this program for every
 * pod, and what the other faces need must cost that call nothing. Literal `import()`
 * arguments become chunks of their own in the bundle.
 */

/** The name an IPAM plugin is called by; a symbolic link to this program. */
const IPAM_NAME = "headcni-ipam";

/** `argv[0]` without directories. `Deno.execPath()` would follow the link we look for. */
function programName(): string {
  let path: string;
  try {
    path = Deno.readTextFileSync("/proc/self/cmdline").split("\0", 1)[0] ?? "";
  } catch {
    path = Deno.execPath(); // no /proc: macOS, Windows, or a chroot without it
  }
  const name = path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
  return Deno.build.os === "windows" ? name.replace(/\.exe$/i, "") : name;
}

type Plugin = typeof import("../lib/cni/plugin_face.ts");

/**
 * The plugin's face. The compiled program carries it as one script with V8's code cache
 * (`tools/build/code_cache.ts`): a runtime waits for this start with every pod.
 */
async function loadPlugin(): Promise<Plugin> {
  if (!Deno.build.standalone) return await import("../lib/cni/plugin_face.ts");
  const [{ Script }, { getBuiltinModule }] = await Promise.all([
    import("node:vm"),
    import("node:process"),
  ]);
  const source = Deno.readTextFileSync(`${import.meta.dirname}/plugin.script`);
  const script = new Script(source, { filename: "plugin", ...codeCache() });
  const module = { exports: {} };
  script.runInThisContext()(module, module.exports, getBuiltinModule);
  return module.exports as Plugin;
}

/** Made by the runtime that reads it; a program built for another machine has none. */
function codeCache(): { cachedData?: Uint8Array } {
  try {
    return { cachedData: Deno.readFileSync(`${import.meta.dirname}/plugin.cache`) };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return {};
    throw error;
  }
}

/** Writes all of `text`; a pipe may take it in pieces, and a closed one is nobody's problem. */
function writeAll(stream: { writeSync(bytes: Uint8Array): number }, text: string): void {
  let rest = new TextEncoder().encode(text);
  try {
    while (rest.length > 0) rest = rest.subarray(stream.writeSync(rest));
  } catch (error) {
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
}

/** All of standard input; a runtime writes the configuration there and closes it. */
function readStdin(): string {
  let bytes = new Uint8Array(0);
  const buffer = new Uint8Array(65_536);
  for (let count; (count = Deno.stdin.readSync(buffer)) !== null;) {
    const longer = new Uint8Array(bytes.length + count);
    longer.set(bytes);
    longer.set(buffer.subarray(0, count), bytes.length);
    bytes = longer;
  }
  // ASCII nearly always, and the first TextDecoder of a process costs a fifth of a millisecond.
  return bytes.length < 10_000 && bytes.every((byte) => byte < 0x80)
    ? String.fromCharCode(...bytes)
    : new TextDecoder().decode(bytes);
}

const streams = {
  stdout: { write: (text: string) => writeAll(Deno.stdout, text) },
  stderr: { write: (text: string) => writeAll(Deno.stderr, text) },
};

async function main(): Promise<number> {
  const command = Deno.env.get("CNI_COMMAND");
  if (command === "VERSION") {
    const { VERSION_ANSWER } = await import("../lib/cni/version.ts");
    streams.stdout.write(JSON.stringify(VERSION_ANSWER) + "\n");
    return 0;
  }
  const name = programName();
  if (command !== undefined || name === IPAM_NAME) {
    const { runPlugin } = await loadPlugin();
    const face = name === IPAM_NAME ? "ipam" : "main";
    const io = { ...streams, readStdin, env: (key: string) => Deno.env.get(key) };
    return await runPlugin(face, io, { files: import.meta.url });
  }
  const { runCommandLine } = await import("../lib/cli/command_line.ts");
  return await runCommandLine(Deno.args, {
    stdout: { ...streams.stdout, isTerminal: Deno.stdout.isTerminal() },
    stderr: { ...streams.stderr, isTerminal: Deno.stderr.isTerminal() },
    noColor: (Deno.env.get("NO_COLOR") ?? "") !== "",
    env: (key) => Deno.env.get(key),
  });
}

// Exits at once: waiting for the event loop to drain costs a pod start time.
Deno.exit(await main());
