/** Which tailscaled to run: where it is, whether it can be used, what it understands. */

import { denoFiles, type Files } from "../sys/files.ts";
import { type Run, run } from "../sys/process.ts";
import { ProcessError } from "../sys/process_error.ts";
import { TailscaledError } from "./errors.ts";

/** Where packages and installers put it, when it is not in `PATH`. */
const MORE_DIRECTORIES = ["/usr/sbin", "/usr/local/sbin", "/usr/bin", "/usr/local/bin"];

/** Older ones are refused by Headscale 0.29, and lack calls this program makes. */
const MINIMUM = [1, 80] as const;

const HOW_TO_GET_IT = "Install it (your distribution's package tailscale, or " +
  "https://tailscale.com/download/linux), or set tailscale.daemon.binary to its path. Its own " +
  "service is not needed: systemctl disable --now tailscaled";

/** A tailscaled that can be run. */
export interface TailscaledBinary {
  readonly path: string;
  /** As it says itself: `1.102.3`. */
  readonly version: string;
  /** Flags it understands, without dashes. */
  readonly flags: ReadonlySet<string>;
}

/** Options for {@linkcode findTailscaled}. */
export interface FindOptions {
  /** From the configuration; nothing else is tried then. */
  readonly configured?: string | undefined;
  /** The value of `PATH`. */
  readonly searchPath?: string | undefined;
  readonly files?: Pick<Files, "stat">;
}

/**
 * The path of the tailscaled to run.
 *
 * @throws {TailscaledError} `NotFound`, with how to get one.
 */
export function findTailscaled(options: FindOptions = {}): string {
  const { configured, searchPath = "", files = denoFiles } = options;
  const isProgram = (path: string) => {
    const stat = files.stat(path);
    return stat?.kind === "file" && (stat.mode & 0o111) !== 0;
  };
  if (configured !== undefined) {
    if (configured.startsWith("/") && isProgram(configured)) return configured;
    throw new TailscaledError({
      kind: "NotFound",
      operation: "find tailscaled",
      subject: configured,
      reason: "there is no such program (an absolute path is needed)",
      remedy: HOW_TO_GET_IT,
    });
  }
  const directories = [...searchPath.split(":"), ...MORE_DIRECTORIES]
    // A relative entry of PATH would depend on where the daemon was started.
    .filter((directory) => directory.startsWith("/"));
  const found = [...new Set(directories)]
    .map((directory) => `${directory}/tailscaled`)
    .find(isProgram);
  if (found !== undefined) return found;
  throw new TailscaledError({
    kind: "NotFound",
    operation: "find tailscaled",
    reason: `it is neither in PATH nor in ${MORE_DIRECTORIES.join(", ")}`,
    remedy: HOW_TO_GET_IT,
  });
}

/**
 * Asks the program at `path` for its version and flags.
 *
 * @throws {TailscaledError} `Unusable` if it does not answer, or is too old.
 */
export async function inspectTailscaled(
  path: string,
  runProgram: Run = run,
): Promise<TailscaledBinary> {
  const ask = async (flag: string) => {
    try {
      // TS_LOGS_DIR: it would otherwise make /var/lib/tailscale, even to print its version.
      const env = { TS_LOGS_DIR: "/nonexistent" };
      return await runProgram(path, [flag], { timeoutMs: 20_000, env, clearEnv: true });
    } catch (error) {
      if (!(error instanceof ProcessError)) throw error;
      throw unusable(path, error.reason, error);
    }
  };
  const { stdout } = await ask("--version");
  const version = checkVersion(stdout, path);
  const help = await ask("--help");
  return { path, version, flags: parseFlags(help.stdout + help.stderr) };
}

/**
 * The version at the beginning of `text`, such as `1.102.3` of `1.102.3-t0123abc`.
 *
 * @throws {TailscaledError} `Unusable` if it is too old; `subject` names the tailscaled.
 *
 * @example
 * ```ts
 * import { checkVersion } from "./tailscaled_binary.ts";
 * import { assertEquals, assertThrows } from "@std/assert";
 *
 * assertEquals(checkVersion("1.102.3-t0123abc", "tailscaled"), "1.102.3");
 * assertThrows(() => checkVersion("1.78.1", "tailscaled"), Error, "1.80 is needed");
 * ```
 */
export function checkVersion(text: string, subject: string): string {
  const version = /^(\d+\.\d+\.\d+)/.exec(text.trimStart())?.[1];
  if (version === undefined) throw unusable(subject, "it does not say which version it is");
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isEnough = major > MINIMUM[0] || (major === MINIMUM[0] && minor >= MINIMUM[1]);
  if (isEnough) return version;
  throw unusable(subject, `it is version ${version}, and ${MINIMUM.join(".")} is needed`);
}

/** Flag names in the usage text that Go's `flag` package prints. */
function parseFlags(usage: string): ReadonlySet<string> {
  return new Set([...usage.matchAll(/^ {2}-([a-z0-9-]+)/gm)].map(([, name = ""]) => name));
}

function unusable(path: string, reason: string, cause?: unknown): TailscaledError {
  return new TailscaledError({
    kind: "Unusable",
    operation: "use",
    subject: path,
    reason,
    remedy: HOW_TO_GET_IT,
    ...(cause === undefined ? {} : { cause }),
  });
}
