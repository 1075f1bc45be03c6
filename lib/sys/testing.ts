/**
 * Stand-ins for the effects of `lib/sys`, for tests of any folder.
 *
 * @module
 */

/** A repeatable source of randomness for property tests. */
export interface SeededRandom {
  /** A whole number from 0 up to, not including, `limit`. */
  integer(limit: number): number;
  /** A number of `bits` random bits. */
  bigint(bits: number): bigint;
  /** One of `choices`, which is not empty. */
  pick<const T>(choices: readonly [T, ...T[]]): T;
}

/**
 * Randomness that is the same on every run with the same `seed`, so that a failure can be
 * repeated: print the seed with it. The generator is mulberry32; it is not for secrets.
 */
export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  const next32 = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ state >>> 15, state | 1);
    mixed ^= mixed + Math.imul(mixed ^ mixed >>> 7, mixed | 61);
    return (mixed ^ mixed >>> 14) >>> 0;
  };
  const integer = (limit: number) => Math.floor(next32() / 2 ** 32 * limit);
  return {
    integer,
    bigint(bits) {
      let value = 0n;
      for (let have = 0; have < bits; have += 32) value = value << 32n | BigInt(next32());
      return BigInt.asUintN(bits, value);
    },
    pick: (choices) => choices[integer(choices.length)] ?? choices[0],
  };
}
