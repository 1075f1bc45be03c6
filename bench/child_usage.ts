/** Processor time of the programs a benchmark runs. Deno does not tell it; the C library does. */

/** `RUSAGE_CHILDREN` of <sys/resource.h>: children that were waited for, with theirs. */
const RUSAGE_CHILDREN = -1;

/** `struct rusage`: two `timeval`, user and system, then fourteen `long`. */
const RUSAGE_BYTES = 2 * 16 + 14 * 8;

const { symbols: libc } = Deno.dlopen("libc.so.6", {
  // int getrusage(int who, struct rusage *usage)
  getrusage: { parameters: ["i32", "buffer"], result: "i32" },
});

/** User and system time of all children that have ended, in milliseconds. */
export function childrenCpuMs(): number {
  const bytes = new Uint8Array(RUSAGE_BYTES);
  if (libc.getrusage(RUSAGE_CHILDREN, bytes) !== 0) throw new Error("Cannot read processor time");
  const [userS = 0n, userUs = 0n, systemS = 0n, systemUs = 0n] = new BigInt64Array(bytes.buffer);
  return Number(userS + systemS) * 1000 + Number(userUs + systemUs) / 1000;
}
