/** How long to wait before the next attempt at something that keeps failing. */

import { cryptoRandomBelow, type RandomBelow } from "./random.ts";

/** Options for {@linkcode backoffMs}. */
export interface BackoffOptions {
  /** Wait after the first failure. */
  readonly baseMs: number;
  /** No wait is longer. */
  readonly capMs: number;
  readonly random?: RandomBelow;
}

/**
 * The wait after `failures` failures in a row, which is at least 1: it doubles each time up
 * to the cap, and is then drawn from its upper half, so that the nodes of a cluster do not
 * knock at the same moment after a common outage.
 *
 * @example
 * ```ts
 * import { backoffMs } from "./backoff.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const options = { baseMs: 500, capMs: 30_000, random: () => 0n };
 * assertEquals([1, 2, 3, 20].map((n) => backoffMs(n, options)), [250, 500, 1000, 15_000]);
 * ```
 */
export function backoffMs(failures: number, options: BackoffOptions): number {
  const { baseMs, capMs, random = cryptoRandomBelow } = options;
  const whole = Math.min(capMs, baseMs * 2 ** Math.min(failures - 1, 30));
  const half = Math.floor(whole / 2);
  return half + Number(random(BigInt(half) + 1n));
}
