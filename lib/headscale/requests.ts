/**
 * One request to Headscale: deadline, retries, errors, measurement.
 *
 * Each request costs the server a bcrypt comparison and a place in a queue that all nodes
 * share, so little is retried: what is idempotent, or was certainly not sent; with waits drawn
 * at random, so that the nodes of a cluster do not come back together.
 */

import { backoffMs } from "../sys/backoff.ts";
import { type Clock, DeadlineError, systemClock, withDeadline } from "../sys/clock.ts";
import {
  HttpError,
  type HttpPool,
  type PooledReply,
  type PooledRequest,
} from "../sys/http_pool.ts";
import { JsonShapeError, type JsonView, parseJsonView } from "../sys/json_view.ts";
import type { RandomBelow } from "../sys/random.ts";
import type { Secret } from "../sys/secret.ts";
import { HeadscaleError, type HeadscaleErrorKind } from "./errors.ts";
import { errorOf } from "./reply.ts";

/** What to ask, and how to read the answer. */
export interface Call<T> {
  /** As an error says it after "Cannot"; also the label of its measurements. */
  readonly operation: string;
  readonly subject?: string;
  readonly method: PooledRequest["method"];
  /** From the root, encoded. */
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
  /** Whether doing it twice is the same as doing it once. */
  readonly idempotent: boolean;
  /**
   * Send the API key.
   *
   * @default {true}
   */
  readonly authorized?: boolean;
  /** Keys in `body`: masked, should the server repeat them. */
  readonly secrets?: readonly Secret[];
  /** Makes a value of the answer. @throws {JsonShapeError} if it is not as expected. */
  readonly read: (answer: JsonView) => T;
}

/** One attempt at a request, as it is told to {@linkcode RecordAttempt}. */
export interface Attempt {
  readonly operation: string;
  readonly outcome: "ok" | HeadscaleErrorKind;
  readonly seconds: number;
}

/** Told of every attempt; `latency.ts` makes a histogram of it. */
export type RecordAttempt = (attempt: Attempt) => void;

/** Options every call of the client takes. */
export interface CallOptions {
  /** Ends the call early: it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** What {@linkcode Requests} is made of. */
export interface RequestsOptions {
  /** Where the API is, without a slash at the end: `https://headscale.example.com`. */
  readonly base: string;
  readonly apiKey: Secret;
  readonly pool: HttpPool;
  /** @default {systemClock} */
  readonly clock?: Clock;
  readonly random?: RandomBelow;
  readonly record?: RecordAttempt;
  /** For all attempts of a call together. @default {15_000} */
  readonly deadlineMs?: number;
  /** For one attempt. @default {6000} */
  readonly attemptMs?: number;
}

const MAX_ATTEMPTS = 4;
const PAUSE = { baseMs: 300, capMs: 4000 };
/** What may go away by itself. */
const PASSING: ReadonlySet<HeadscaleErrorKind> = new Set(["Unreachable", "Deadline", "Failed"]);

/** Asks Headscale. */
export class Requests {
  readonly #options: RequestsOptions;
  readonly #clock: Clock;

  constructor(options: RequestsOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /**
   * The answer to `call`, as it reads it.
   *
   * @throws {HeadscaleError} if it cannot be had; the signal's reason if it aborts.
   */
  async ask<T>(call: Call<T>, options: CallOptions = {}): Promise<T> {
    const { deadlineMs = 15_000 } = this.#options;
    const start = this.#clock.monotonicMs();
    for (let attempt = 1;; attempt++) {
      const leftMs = deadlineMs - (this.#clock.monotonicMs() - start);
      const result = await this.#attempt(call, { ...options, leftMs });
      if (!(result instanceof HeadscaleError)) return result;
      const pauseMs = this.#pauseMs(result, attempt);
      const spentMs = this.#clock.monotonicMs() - start;
      if (!isWorthRetrying(call, result) || attempt >= MAX_ATTEMPTS) throw result;
      if (spentMs + pauseMs >= deadlineMs) throw result;
      await this.#clock.sleep(pauseMs, options);
    }
  }

  #pauseMs(error: HeadscaleError, attempt: number): number {
    const { random } = this.#options;
    const drawn = backoffMs(attempt, { ...PAUSE, ...(random === undefined ? {} : { random }) });
    return Math.max(drawn, error.retryAfterMs ?? 0);
  }

  /** One attempt, measured. An expected failure is returned, so that the caller decides. */
  async #attempt<T>(
    call: Call<T>,
    options: CallOptions & { readonly leftMs: number },
  ): Promise<T | HeadscaleError> {
    const { record, attemptMs = 6000 } = this.#options;
    const start = this.#clock.monotonicMs();
    const result = await this.#exchange(call, {
      signal: options.signal,
      limitMs: Math.max(1, Math.min(attemptMs, options.leftMs)),
    });
    record?.({
      operation: call.operation,
      outcome: result instanceof HeadscaleError ? result.kind : "ok",
      seconds: (this.#clock.monotonicMs() - start) / 1000,
    });
    return result;
  }

  async #exchange<T>(
    call: Call<T>,
    options: CallOptions & { readonly limitMs: number },
  ): Promise<T | HeadscaleError> {
    const { apiKey, pool } = this.#options;
    const { operation, subject } = call;
    try {
      const reply = await withDeadline(
        options.limitMs,
        (signal) => pool.send(this.#request(call), signal),
        {
          operation,
          clock: this.#clock,
          ...(subject === undefined ? {} : { subject }),
          ...(options.signal === undefined ? {} : { signal: options.signal }),
        },
      );
      if (reply.status < 200 || reply.status > 299) {
        return errorOf(reply, call, [apiKey, ...call.secrets ?? []]);
      }
      return call.read(viewOf(reply, operation));
    } catch (error) {
      const expected = expectedError(error, call);
      if (expected === undefined) throw error;
      return expected;
    }
  }

  #request(call: Call<unknown>): PooledRequest {
    const { base, apiKey } = this.#options;
    const { method, path, body, authorized = true } = call;
    return {
      method,
      url: `${base}${path}`,
      headers: {
        accept: "application/json",
        ...(authorized ? { authorization: `Bearer ${apiKey.expose()}` } : {}),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
  }
}

/** Calls that answer with nothing have `{}` as their answer, or nothing at all. */
function viewOf(reply: PooledReply, operation: string): JsonView {
  return parseJsonView(
    reply.text.trim() === "" ? "{}" : reply.text,
    `the answer to “${operation}”`,
  );
}

function isWorthRetrying(call: Call<unknown>, error: HeadscaleError): boolean {
  return PASSING.has(error.kind) && (call.idempotent || error.unsent);
}

function expectedError(error: unknown, call: Call<unknown>): HeadscaleError | undefined {
  const { operation, subject } = call;
  const asked = { operation, ...(subject === undefined ? {} : { subject }), cause: error };
  if (error instanceof DeadlineError) {
    const reason = `Headscale did not answer within ${error.limitMs} ms`;
    return new HeadscaleError({ ...asked, kind: "Deadline", reason });
  }
  if (error instanceof JsonShapeError) {
    const reason = `Headscale's answer is not as expected: ${error.reason}`;
    return new HeadscaleError({ ...asked, kind: "BadAnswer", reason });
  }
  if (!(error instanceof HttpError)) return undefined;
  if (error.kind === "TooLarge") {
    return new HeadscaleError({ ...asked, kind: "BadAnswer", reason: error.reason });
  }
  const remedy = /certificate/i.test(error.reason)
    ? "If it is signed by a CA of your own, name that CA's file in the configuration"
    : "Check the URL in the configuration, and that Headscale runs: curl URL/health";
  return new HeadscaleError({
    ...asked,
    kind: "Unreachable",
    reason: `${error.subject} cannot be reached: ${error.reason}`,
    remedy,
    unsent: error.kind === "NotConnected",
  });
}
