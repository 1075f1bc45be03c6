/** The program `nft`, which turns text into rules. */

import { denoFiles, type Files } from "../sys/files.ts";
import { type Run, run } from "../sys/process.ts";
import { FirewallError } from "./errors.ts";

/**
 * Not `PATH`: the plugin runs as root with the environment of a container runtime, and podman
 * and others add directories to it.
 */
const PLACES: readonly string[] = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"];

/** A load takes 10 ms; under a hundred at once, two seconds were seen. */
const LOAD_TIMEOUT_MS = 20_000;

/** How to find and run `nft`. */
export interface NftOptions {
  /** @default {run} */
  readonly run?: Run;
  /** @default {denoFiles} */
  readonly files?: Pick<Files, "stat">;
  /** Stops the load; the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/**
 * The path of `nft`.
 *
 * @throws {FirewallError} if it is not installed.
 */
export function findNft(files: Pick<Files, "stat"> = denoFiles): string {
  const path = PLACES.map((place) => `${place}/nft`)
    .find((candidate) => files.stat(candidate)?.kind === "file");
  if (path !== undefined) return path;
  throw new FirewallError({
    operation: "load packet filter",
    reason: `nft is in none of ${PLACES.join(", ")}`,
    remedy: "Install nftables: apt-get install nftables, dnf install nftables",
  });
}

/**
 * Carries out `script` as one transaction. ≈ `nft -f -`
 *
 * @throws {ProcessError} if `nft` refuses it; then nothing has changed.
 */
export async function runNft(script: string, options: NftOptions = {}): Promise<void> {
  const { files = denoFiles, signal } = options;
  const execute = options.run ?? run;
  await execute(findNft(files), ["-f", "-"], {
    stdin: script,
    clearEnv: true,
    timeoutMs: LOAD_TIMEOUT_MS,
    check: true,
    ...(signal === undefined ? {} : { signal }),
  });
}
