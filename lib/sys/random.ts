/** Randomness as a port: numbers nobody can predict, or a test's own. */

/** A uniformly distributed number of `0 … limit - 1`; `limit` is positive. */
export type RandomBelow = (limit: bigint) => bigint;

/**
 * From the operating system's cryptographic source.
 *
 * Rejection sampling: as many bits as `limit - 1` has, drawn again while they make a number
 * that is too large. A remainder (`%`) would prefer small numbers. Fewer than two draws on
 * average.
 *
 * @example
 * ```ts
 * import { cryptoRandomBelow } from "./random.ts";
 * import { assert } from "@std/assert";
 *
 * assert(cryptoRandomBelow(10n) < 10n);
 * ```
 */
export function cryptoRandomBelow(limit: bigint): bigint {
  const bits = (limit - 1n).toString(2).length;
  const bytes = new Uint8Array(Math.ceil(bits / 8));
  for (;;) {
    crypto.getRandomValues(bytes);
    let value = 0n;
    for (const byte of bytes) value = value << 8n | BigInt(byte);
    value = BigInt.asUintN(bits, value);
    if (value < limit) return value;
  }
}
