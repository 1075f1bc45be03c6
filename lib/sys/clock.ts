/** Time: reading it, waiting for it, and limiting how long something may take. */

import { HeadcniError } from "./errors.ts";

/** Options for {@linkcode Clock.sleep}. */
export interface SleepOptions {
  /** Ends the sleep early: the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Time as the program sees it. Tests pass a `FakeClock`. */
export interface Clock {
  /** Wall-clock time in milliseconds since 1970. Jumps when the node's clock is set. */
  now(): number;
  /** Milliseconds since some moment; never jumps. Use this one to measure. */
  monotonicMs(): number;
  /** Calls `ring` after `ms` milliseconds, unless the function it returns is called before. */
  after(ms: number, ring: () => void): () => void;
  /** Resolves after `ms` milliseconds. */
  sleep(ms: number, options?: SleepOptions): Promise<void>;
}

/** `setTimeout` counts in an int32; a longer delay would fire at once. About 24 days. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The real clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(ms, ring) {
    const timer = setTimeout(ring, Math.min(ms, MAX_TIMER_MS));
    return () => clearTimeout(timer);
  },
  sleep(ms, options = {}) {
    const { signal } = options;
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const onAbort = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      }, Math.min(ms, MAX_TIMER_MS));
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  },
};

/** Something took longer than it was allowed to. */
export class DeadlineError extends HeadcniError {
  override readonly name = "DeadlineError";
  /** The limit that passed. */
  readonly limitMs: number;

  constructor(parts: { operation: string; subject?: string | undefined; limitMs: number }) {
    super({
      operation: parts.operation,
      ...(parts.subject === undefined ? {} : { subject: parts.subject }),
      reason: `not finished after ${parts.limitMs} ms`,
    });
    this.limitMs = parts.limitMs;
  }
}

/** Options for {@linkcode withDeadline}. */
export interface DeadlineOptions {
  /** What is being done, as a verb phrase; begins the error. */
  readonly operation: string;
  /** What it is done to. */
  readonly subject?: string;
  /** Cancels before the deadline does. */
  readonly signal?: AbortSignal;
  /** @default {systemClock} */
  readonly clock?: Pick<Clock, "sleep">;
}

/**
 * So many turns of the microtask queue are waited for before a timer is set. Work that ends
 * within them has waited for nothing outside, and cannot be late.
 */
const FREE_TURNS = 200;

/**
 * The result of `work`, or a {@linkcode DeadlineError} after `limitMs` milliseconds; `work` is
 * then left behind, and what becomes of it is ignored.
 *
 * For work that cannot be told to stop. {@linkcode withDeadline} makes a timer and abort
 * signals, and the first of a process take a millisecond, which ADD would feel.
 */
export async function withTimeLimit<T>(
  limitMs: number,
  work: () => Promise<T>,
  options: Pick<DeadlineOptions, "operation" | "subject"> & {
    readonly clock?: Pick<Clock, "after">;
  },
): Promise<T> {
  const { operation, subject, clock = systemClock } = options;
  const working = work();
  let settled = false;
  const settle = () => void (settled = true);
  working.then(settle, settle);
  for (let turn = 0; turn < FREE_TURNS && !settled; turn++) await undefined;
  if (settled) return await working;
  let cancel = () => {};
  const late = new Promise<never>((_, reject) => {
    cancel = clock.after(limitMs, () => {
      reject(new DeadlineError({ operation, subject, limitMs }));
    });
  });
  try {
    return await Promise.race([working, late]);
  } finally {
    cancel();
  }
}

/**
 * The result of `work`, or a {@linkcode DeadlineError} after `limitMs` milliseconds.
 *
 * `work` gets a signal that aborts at the deadline or with `options.signal`, and should
 * pass it on. The promise returned here rejects then in any case: work that ignores the
 * signal is left behind, and what becomes of it is ignored.
 *
 * @example
 * ```ts
 * import { DeadlineError, systemClock, withDeadline } from "./clock.ts";
 * import { assertRejects } from "@std/assert";
 *
 * await assertRejects(
 *   () =>
 *     withDeadline(5, (signal) => systemClock.sleep(60_000, { signal }), {
 *       operation: "list nodes",
 *     }),
 *   DeadlineError,
 *   "Cannot list nodes: not finished after 5 ms",
 * );
 * ```
 */
export async function withDeadline<T>(
  limitMs: number,
  work: (signal: AbortSignal) => Promise<T>,
  options: DeadlineOptions,
): Promise<T> {
  const { operation, subject, clock = systemClock } = options;
  options.signal?.throwIfAborted();
  const stop = new AbortController();
  const settled = new AbortController();
  const untilSettled = { once: true, signal: settled.signal };
  // Not AbortSignal.any: in Deno 2.5 a long-lived source keeps every signal made from it.
  const forward = () => stop.abort(options.signal?.reason);
  options.signal?.addEventListener("abort", forward, untilSettled);

  const aborted = new Promise<never>((_, reject) => {
    stop.signal.addEventListener("abort", () => reject(stop.signal.reason), untilSettled);
  });
  clock.sleep(limitMs, { signal: settled.signal }).then(
    () => stop.abort(new DeadlineError({ operation, subject, limitMs })),
    // The work settled first and ended the sleep.
    () => {},
  );
  try {
    return await Promise.race([work(stop.signal), aborted]);
  } finally {
    settled.abort();
  }
}
