/**
 * Writes the bill of materials of a built program to standard output.
 *
 * ```sh
 * deno task sbom --program dist/headcni \
 *   --build-info dist/.build/x86_64-unknown-linux-gnu/bundle/build_info.json \
 *   --libmnl 1.0.4-3:amd64 >headcni.cdx.json
 * ```
 *
 * `SOURCE_DATE_EPOCH` (seconds) becomes the time in the document; without it there is none.
 */

import { parseArgs } from "@std/cli/parse-args";
import { type DebianPackage, renderBom } from "./sbom/bom.ts";
import { LockFileError, parseLockFile } from "./sbom/lock_file.ts";

const USAGE = "Usage: tools/sbom.ts --program FILE --build-info FILE [--libmnl VERSION:ARCH]";

/** A call that cannot be answered; the message says why. */
class SbomError extends Error {
  override readonly name = "SbomError";
}

/** What the build wrote about itself; see `tools/build.ts`. */
interface BuildInfo {
  readonly version: string;
  readonly commit: string;
  readonly target: string;
  readonly lockHash: string;
}

async function main(args: readonly string[]): Promise<string> {
  const flags = parseArgs(args, { string: ["program", "build-info", "libmnl"] });
  const program = requireText(flags.program);
  const info = parseBuildInfo(await Deno.readTextFile(requireText(flags["build-info"])));
  const lock = await Deno.readFile(new URL("../deno.lock", import.meta.url));
  if (await sha256(lock) !== info.lockHash) {
    throw new SbomError("Cannot list the parts: the program was built with another deno.lock");
  }
  return await renderBom({
    version: info.version,
    commit: info.commit,
    target: info.target,
    sha256: await sha256(await Deno.readFile(program)),
    npm: parseLockFile(new TextDecoder().decode(lock)),
    denoVersion: Deno.version.deno,
    libmnl: parseDebianPackage(flags.libmnl),
    timestamp: timestamp(Deno.env.get("SOURCE_DATE_EPOCH")),
  });
}

function requireText(value: unknown): string {
  if (typeof value === "string" && value !== "") return value;
  throw new SbomError(`Cannot list the parts: an option is missing\n${USAGE}`);
}

function parseBuildInfo(text: string): BuildInfo {
  const info: Partial<Record<keyof BuildInfo, unknown>> = JSON.parse(text);
  const { version, commit, target, lockHash } = info;
  if (
    typeof version !== "string" || typeof commit !== "string" || typeof target !== "string" ||
    typeof lockHash !== "string"
  ) {
    throw new SbomError("Cannot read the build information: a field is missing");
  }
  return { version, commit, target, lockHash };
}

/** `1.0.4-3:amd64`; the version may contain a colon of its own (an epoch). */
function parseDebianPackage(value: unknown): DebianPackage | undefined {
  if (value === undefined) return undefined;
  const [, version, architecture] = /^(.+):([a-z0-9]+)$/.exec(String(value)) ?? [];
  if (version === undefined || architecture === undefined) {
    throw new SbomError(`Cannot use --libmnl "${value}": it is not VERSION:ARCH\n${USAGE}`);
  }
  return { version, architecture };
}

function timestamp(epochSeconds: string | undefined): string | undefined {
  if (epochSeconds === undefined || epochSeconds === "") return undefined;
  if (!/^\d+$/.test(epochSeconds)) {
    throw new SbomError(`Cannot use SOURCE_DATE_EPOCH "${epochSeconds}": it is no number`);
  }
  return new Date(Number(epochSeconds) * 1000).toISOString();
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

if (import.meta.main) {
  try {
    // Through the stream: one write to a pipe may take only a part of a long text.
    await new Blob([await main(Deno.args)]).stream().pipeTo(Deno.stdout.writable);
  } catch (error) {
    const expected = error instanceof SbomError || error instanceof LockFileError ||
      error instanceof Deno.errors.NotFound;
    if (!expected) throw error;
    Deno.stderr.writeSync(new TextEncoder().encode(`sbom: ${error.message}\n`));
    Deno.exit(1);
  }
}
