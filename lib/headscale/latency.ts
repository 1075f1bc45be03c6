/** How long Headscale takes to answer: a histogram per operation, in the form Prometheus has. */

import type { Attempt, RecordAttempt } from "./requests.ts";

/** Upper bounds in seconds; what is above the last one is in the count only. */
export const LATENCY_BOUNDS_S: readonly number[] = [
  0.005,
  0.01,
  0.025,
  0.05,
  0.1,
  0.25,
  0.5,
  1,
  2.5,
  5,
  10,
];

/** The attempts at one operation that ended alike. */
export interface Latency extends Pick<Attempt, "operation" | "outcome"> {
  readonly count: number;
  readonly sumS: number;
  /** How many took at most each of {@linkcode LATENCY_BOUNDS_S}. */
  readonly buckets: readonly number[];
}

/**
 * Counts attempts; pass {@linkcode LatencyHistogram.record} to the client.
 *
 * @example
 * ```ts
 * import { LatencyHistogram } from "./latency.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const histogram = new LatencyHistogram();
 * histogram.record({ operation: "list nodes", outcome: "ok", seconds: 0.02 });
 * assertEquals(histogram.slowestS(), 0.02);
 * ```
 */
export class LatencyHistogram {
  readonly #rows = new Map<string, { count: number; sumS: number; buckets: number[] } & Attempt>();
  #slowestS = 0;

  /** Takes an attempt into account. */
  readonly record: RecordAttempt = (attempt) => {
    const { operation, outcome, seconds } = attempt;
    const key = `${operation}\0${outcome}`;
    const row = this.#rows.get(key) ??
      { ...attempt, count: 0, sumS: 0, buckets: LATENCY_BOUNDS_S.map(() => 0) };
    row.count++;
    row.sumS += seconds;
    row.buckets = row.buckets.map((count, index) =>
      seconds <= (LATENCY_BOUNDS_S[index] ?? Infinity) ? count + 1 : count
    );
    this.#rows.set(key, row);
    this.#slowestS = Math.max(this.#slowestS, seconds);
  };

  /** All rows, in the order their first attempt came. */
  rows(): Latency[] {
    return [...this.#rows.values()].map(({ operation, outcome, count, sumS, buckets }) => ({
      operation,
      outcome,
      count,
      sumS,
      buckets: [...buckets],
    }));
  }

  /** The longest attempt so far; zero without any. */
  slowestS(): number {
    return this.#slowestS;
  }
}
