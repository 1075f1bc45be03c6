/**
 * Builds a part from its Go module, once per machine.
 *
 * In a copy of the module's source, not with `go install`: that refuses modules with replace
 * directives and asks the proxy for a list of versions, which some proxies do not give out.
 * `<cache>/go/<name>-<version>/<name>` is made under another name and renamed when it is
 * complete, so a path that exists is a whole program. One lock for all parts: two of these
 * builds at once take longer than one after the other.
 */

import { HeadcniError } from "../../lib/sys/errors.ts";
import { lockFile } from "../../lib/sys/file_lock.ts";
import { type Run, run, type RunResult } from "../../lib/sys/process.ts";
import { ProcessError } from "../../lib/sys/process_error.ts";
import { cacheDirectory } from "../build/cache.ts";
import { lastLine } from "../build/command.ts";
import { GO_PARTS, type GoPart } from "./parts.ts";

/** A part that cannot be had here; tests print the reason of it when they skip. */
export class GoPartError extends HeadcniError {
  override readonly name: string = "GoPartError";
}

/** There is no Go on this machine, and the part is not in the cache. */
export class NoGoError extends GoPartError {
  override readonly name = "NoGoError";
}

/** The outside world of {@linkcode goPart}; tests pass their own. */
export interface GoPartOptions {
  /** @default {run} */
  readonly run?: Run;
  /** Where parts are kept; by default `go` in the cache directory of the build. */
  readonly directory?: string;
  /** Told what takes time. */
  readonly say?: (text: string) => void;
}

/** A cold build of headscale took six minutes on two busy cores. */
const BUILD_TIMEOUT_MS = 40 * 60_000;
/** Others may build all parts before it is our turn. */
const LOCK_TIMEOUT_MS = 4 * BUILD_TIMEOUT_MS;
const DOWNLOAD_TIMEOUT_MS = 10 * 60_000;

/** What a build that was killed leaves behind. */
const UNFINISHED = ".building-";

/**
 * The path of the program `name` of `version`, built first if it is not in the cache.
 *
 * @throws {GoPartError} if there is no such part, no Go, or the module cannot be had or built.
 */
export async function goPart(
  name: string,
  version: string,
  options: GoPartOptions = {},
): Promise<string> {
  const part = GO_PARTS.find((one) => one.name === name && one.version === version);
  if (part === undefined) {
    throw new GoPartError({
      operation: "build",
      subject: `${name} ${version}`,
      reason: "it is not listed in tools/go_parts/parts.ts",
    });
  }
  const directory = options.directory ?? cacheDirectory("go");
  const program = `${directory}/${name}-${version}/${name}`;
  if (isFile(program)) return program;
  await checkGo(part, options.run ?? run);
  using _lock = await lockFile(`${directory}/build.lock`, {
    mode: "exclusive",
    timeoutMs: LOCK_TIMEOUT_MS,
  });
  if (!isFile(program)) await build(part, directory, options); // else somebody did while we waited
  return program;
}

async function build(part: GoPart, directory: string, options: GoPartOptions): Promise<void> {
  const { run: runProgram = run, say = sayOnTerminal } = options;
  removeUnfinished(directory);
  const unfinished = Deno.makeTempDirSync({ dir: directory, prefix: UNFINISHED });
  try {
    say(`building ${part.name} ${part.version} (minutes the first time, then kept)`);
    const source = await fetchModule(part, { cwd: unfinished, runProgram });
    const copy = `${unfinished}/source`;
    await runProgram("cp", ["-r", source, copy], { check: true, timeoutMs: DOWNLOAD_TIMEOUT_MS });
    const finished = Deno.makeTempDirSync({ dir: directory, prefix: UNFINISHED });
    const [program, path] = [`${finished}/${part.name}`, part.package.slice(part.module.length)];
    const args = ["build", "-buildvcs=false", "-ldflags=-s -w", "-o", program, `.${path}`];
    const { durationMs } = await go(part, args, { cwd: copy, runProgram });
    const { size } = Deno.statSync(program);
    Deno.chmodSync(finished, 0o755); // the program may run as another user
    Deno.renameSync(finished, `${directory}/${part.name}-${part.version}`);
    const [seconds, megabytes] = [Math.round(durationMs / 1000), Math.round(size / 1e6)];
    say(`built ${part.name} ${part.version} in ${seconds} s, ${megabytes} MB`);
  } finally {
    removeUnfinished(directory);
  }
}

/** Only ever called with the lock: what has this name then is nobody's work any more. */
function removeUnfinished(directory: string): void {
  for (const { name } of Deno.readDirSync(directory)) {
    if (name.startsWith(UNFINISHED)) Deno.removeSync(`${directory}/${name}`, { recursive: true });
  }
}

/** Without Go there is nothing to wait for. */
async function checkGo(part: GoPart, runProgram: Run): Promise<void> {
  try {
    await runProgram("go", ["version"]);
  } catch (error) {
    if (!(error instanceof ProcessError) || error.kind !== "NotFound") throw error;
    throw new NoGoError({
      operation: "build",
      subject: `${part.name} ${part.version}`,
      reason: "Go is not installed",
      remedy: "Install Go 1.21 or newer (it fetches the release it needs by itself): go.dev/dl",
      cause: error,
    });
  }
}

/** Fetches the module, compares its hash with the pinned one, and returns where its source is. */
async function fetchModule(part: GoPart, options: GoOptions): Promise<string> {
  const args = ["mod", "download", "-json", `${part.module}@v${part.version}`];
  const { stdout } = await go(part, args, options);
  const { Sum: sum, Dir: source } = JSON.parse(stdout);
  if (sum === part.moduleSum) return source;
  throw new GoPartError({
    operation: "trust module",
    subject: `${part.module}@v${part.version}`,
    reason: `its hash is ${sum}, pinned is ${part.moduleSum}`,
    remedy: "Find out which one is right before you change tools/go_parts/parts.ts",
  });
}

interface GoOptions {
  readonly cwd: string;
  readonly runProgram: Run;
}

async function go(
  part: GoPart,
  args: readonly string[],
  options: GoOptions,
): Promise<RunResult> {
  const { cwd, runProgram } = options;
  const result = await runProgram("nice", ["go", ...args], {
    cwd,
    timeoutMs: args[0] === "build" ? BUILD_TIMEOUT_MS : DOWNLOAD_TIMEOUT_MS,
    env: {
      CGO_ENABLED: "0", // headscale's SQLite and tailscaled do without a C compiler
      GOFLAGS: "-modcacherw -trimpath",
      GOWORK: "off",
      // Distributions set "local"; a module may want a newer Go than the machine's.
      GOTOOLCHAIN: Deno.env.get("GOTOOLCHAIN") ?? "auto",
      // For this machine, whatever the developer is building for.
      GOOS: "",
      GOARCH: "",
    },
  });
  if (result.code === 0) return result;
  throw new GoPartError({
    operation: "build",
    subject: `${part.name} ${part.version}`,
    reason: `go ${args[0]} failed: ${reasonOf(result)}`,
    remedy: "Check GOPROXY (go env GOPROXY) and the network; deno task parts shows all of it",
  });
}

/** `go mod download -json` puts its reason into the JSON, everything else on standard error. */
function reasonOf(result: RunResult): string {
  const reported = /"Error": "(.*)"/.exec(result.stdout)?.[1];
  return reported ?? (lastLine(result.stderr) || `status ${result.code}`);
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

function sayOnTerminal(text: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`parts: ${text}\n`));
}
