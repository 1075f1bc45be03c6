/**
 * `deno task build`: makes `dist/headcni`, one file with everything in it.
 *
 * Needs Deno, npm and (for libmnl, when the machine has none) Debian's apt. It
 * imports no package itself, so that a missing registry is reported by us, in one
 * sentence, and not by a stack trace before the first line runs.
 */

import { BuildError, say } from "./build/build_error.ts";
import { bundle } from "./build/bundle.ts";
import { capture } from "./build/command.ts";
import { makeCodeCache } from "./build/code_cache.ts";
import { compile, PROGRAM_FLAGS } from "./build/compile.ts";
import { sha256Hex } from "./build/hash.ts";
import { findLibmnl, LIBMNL_SONAME } from "./build/libmnl.ts";
import { PINNED_DENO, runtimePin } from "./build/pins.ts";
import { bundlePlugin } from "./build/plugin_script.ts";
import { findRuntime, type RuntimeSource, verifyRuntime } from "./build/runtime.ts";
import { debianArchitecture, isTarget, outputName, type Target, TARGETS } from "./build/targets.ts";
import config from "../deno.json" with { type: "json" };

const USAGE =
  `Usage: deno task build [--target TRIPLE] [--runtime auto|official|npm] [--output FILE]

Builds dist/headcni for this machine, or dist/headcni-TRIPLE for another one:
  ${TARGETS.join("\n  ")}

--runtime official  use Deno's own download only, and compare it with the pin
--runtime npm       use the pinned npm package only

Environment: DENORT_BIN (a runtime to use), HEADCNI_CACHE (default ~/.cache/headcni).
`;

/** A binary above this is a mistake: something was embedded that should have been bundled. */
const MAX_BYTES = 100_000_000;

interface Settings {
  readonly target: Target;
  readonly runtime: RuntimeSource;
  readonly output: string | undefined;
}

/** Reads `--flag value` and `--flag=value`; anything else is a mistake worth stopping for. */
function readFlags(args: readonly string[]): Map<string, string> {
  const flags = new Map<string, string>();
  const words = args.flatMap((arg) => arg.startsWith("--") ? arg.split(/=(.*)/s, 2) : [arg]);
  for (let index = 0; index < words.length; index += 2) {
    const [flag = "", value] = words.slice(index, index + 2);
    if (!["--target", "--runtime", "--output"].includes(flag) || value === undefined) {
      throw new BuildError(`Cannot use argument "${words.slice(index).join(" ")}"`, USAGE);
    }
    flags.set(flag, value);
  }
  return flags;
}

function parseSettings(args: readonly string[]): Settings {
  const flags = readFlags(args);
  const target = flags.get("--target") ?? Deno.build.target;
  const runtime = flags.get("--runtime") ?? "auto";
  if (!isTarget(target)) {
    throw new BuildError(`Cannot build for "${target}"`, `Choose one of ${TARGETS.join(", ")}`);
  }
  if (runtime !== "auto" && runtime !== "official" && runtime !== "npm") {
    throw new BuildError(`Cannot use --runtime "${runtime}"`, "Choose auto, official or npm");
  }
  return { target, runtime, output: flags.get("--output") };
}

async function commit(root: string): Promise<string> {
  const head = await capture("git", ["-C", root, "rev-parse", "--short=12", "HEAD"])
    .catch(() => undefined);
  if (!head?.ok) return "unknown";
  const changes = await capture("git", ["-C", root, "status", "--porcelain"]);
  return head.stdout.trim() + (changes.stdout.trim() === "" ? "" : "-dirty");
}

/** Written beside the chunks; `lib/sys/build_info.ts` reads it. No date: the same tree gives the same file. */
async function writeBuildInfo(
  directory: string,
  facts: { root: string; target: Target },
): Promise<string> {
  const info = {
    version: config.version,
    commit: await commit(facts.root),
    target: facts.target,
    lockHash: await sha256Hex(await Deno.readFile(`${facts.root}/deno.lock`)),
  };
  await Deno.writeTextFile(`${directory}/build_info.json`, JSON.stringify(info));
  return `${info.version} (${info.commit})`;
}

/** deno compile records file times; with all of them equal, the same tree gives the same bytes. */
async function forgetTimes(directory: string): Promise<void> {
  for await (const file of Deno.readDir(directory)) {
    await Deno.utime(`${directory}/${file.name}`, 0, 0);
  }
}

async function build(args: readonly string[]): Promise<void> {
  if (Deno.version.deno !== PINNED_DENO) {
    throw new BuildError(
      `Cannot build with Deno ${Deno.version.deno}: the runtime is pinned to ${PINNED_DENO}`,
      `Run: npx -y deno@${PINNED_DENO} task build`,
    );
  }
  const settings = parseSettings(args);
  const { target } = settings;
  const root = new URL("..", import.meta.url).pathname.replace(/\/$/, "");
  const work = `${root}/dist/.build/${target}`;
  const architecture = debianArchitecture(target);
  const pin = runtimePin(target);

  const entry = await bundle(`${root}/cmd/headcni.ts`, `${work}/bundle`);
  say(`bundle: ${[...Deno.readDirSync(`${work}/bundle`)].length} chunks`);
  const script = await bundlePlugin(`${root}/lib/cni/plugin_face.ts`, `${work}/bundle`);
  const version = await writeBuildInfo(`${work}/bundle`, { root, target });
  if (architecture !== undefined) {
    const library = await findLibmnl(architecture);
    await Deno.writeFile(`${work}/bundle/${LIBMNL_SONAME}`, library);
  }
  const runtime = await findRuntime(target, pin, { source: settings.runtime });
  await makeCodeCache(script, { work: `${work}/code_cache`, target, runtime });
  await forgetTimes(`${work}/bundle`);

  // Compiled under its final name (which becomes part of the program) but beside
  // it, and renamed at the end: an interrupted build leaves the old program whole.
  const name = target.includes("windows") ? "headcni.exe" : "headcni";
  const program = await compile(entry, `${work}/${name}`, {
    target,
    runtime,
    v8Flags: PROGRAM_FLAGS,
  });
  if (pin !== undefined) await verifyRuntime(program, pin, runtime);
  if (program.length > MAX_BYTES) {
    throw new BuildError(
      `Cannot ship a program of ${program.length} bytes: the limit is ${MAX_BYTES}`,
      "Look for a package that is embedded instead of bundled",
    );
  }
  const output = settings.output ?? `${root}/dist/${outputName(target, Deno.build.target)}`;
  await Deno.rename(`${work}/${name}`, output);
  say(`done: ${output}, headcni ${version}, ${(program.length / 1e6).toFixed(1)} MB`);
}

if (import.meta.main) {
  if (Deno.args.includes("--help") || Deno.args.includes("-h")) {
    Deno.stdout.writeSync(new TextEncoder().encode(USAGE));
    Deno.exit(0);
  }
  try {
    await build(Deno.args);
  } catch (error) {
    if (!(error instanceof BuildError)) throw error;
    say(`${error.message}\nbuild: ${error.remedy}`);
    Deno.exit(1);
  }
}
