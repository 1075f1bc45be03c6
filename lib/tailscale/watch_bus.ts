/**
 * Notice that something changed in tailscaled, at once.
 *
 * What the bus carries differs from version to version, and a slow reader is cut off: it is
 * a wake-up, never a source of truth. Whoever is woken reads the status. After a
 * lost connection everything may have changed, so a new one wakes, too.
 */

import { backoffMs } from "../sys/backoff.ts";
import { type Clock, systemClock } from "../sys/clock.ts";
import { discardLog, type Log } from "../sys/log.ts";
import type { RandomBelow } from "../sys/random.ts";
import type { LocalApi } from "./local_api.ts";
import { redactKeys } from "./redact_keys.ts";

/**
 * `ipn.NotifyWatchOpt` bits: initial state 2, initial settings 4, initial health 128, peer
 * changes 4096. Older versions ignore bits they do not know; a rate limit (256) must not be
 * combined with the last.
 */
const MASK = 2 | 4 | 128 | 4096;

/** Longer messages are network maps: they wake, but are not looked into. */
const MAX_MESSAGE_BYTES = 65_536;
const NEWLINE = 0x0a;

/**
 * - `connected`: the bus is there (again); anything may have changed.
 * - `changed`: tailscaled said something.
 * - `lost`: the bus has ended, tailscaled perhaps, too.
 */
export type WakeReason = "connected" | "changed" | "lost";

/** Why somebody is woken. */
export interface WakeUp {
  /** All reasons since the last time. */
  readonly reasons: ReadonlySet<WakeReason>;
  /** What tailscaled complained about, such as a key that was refused. */
  readonly complaint: string | undefined;
}

/** Options for {@linkcode watchBus}. */
export interface WatchBusOptions {
  /** Ends the watch. */
  readonly signal: AbortSignal;
  readonly onWake: (wakeUp: WakeUp) => void;
  /** Messages within this time wake once. @default {250} */
  readonly settleMs?: number;
  readonly log?: Log;
  readonly clock?: Clock;
  readonly random?: RandomBelow;
}

/**
 * Calls `onWake` whenever something may have changed, until the signal. Reconnects with
 * back-off; the promise resolves only when the signal ends it.
 */
export async function watchBus(
  api: Pick<LocalApi, "busBytes">,
  options: WatchBusOptions,
): Promise<void> {
  const { signal, clock = systemClock, log = discardLog, random } = options;
  const bell = new Bell(options);
  for (let failures = 0; !signal.aborted;) {
    let heard = false;
    try {
      for await (const message of messages(api.busBytes(MASK, signal))) {
        bell.ring(heard ? "changed" : "connected", complaintOf(message));
        heard = true;
      }
      log.debug("the bus of tailscaled has ended");
    } catch (error) {
      if (signal.aborted) break;
      log.debug("no bus of tailscaled", { error });
    }
    if (heard) bell.ring("lost");
    failures = heard ? 1 : failures + 1;
    const pauseMs = backoffMs(failures, {
      baseMs: 200,
      capMs: 15_000,
      ...(random === undefined ? {} : { random }),
    });
    await clock.sleep(pauseMs, { signal }).catch(() => {});
  }
}

/** Collects reasons for a moment, then wakes once. */
class Bell {
  readonly #options: WatchBusOptions;
  #reasons = new Set<WakeReason>();
  #complaint: string | undefined;

  constructor(options: WatchBusOptions) {
    this.#options = options;
  }

  ring(reason: WakeReason, complaint?: string): void {
    const { clock = systemClock, settleMs = 250, signal } = this.#options;
    const first = this.#reasons.size === 0;
    this.#reasons.add(reason);
    this.#complaint = complaint ?? this.#complaint;
    if (first) clock.sleep(settleMs, { signal }).then(() => this.#wake(), () => {});
  }

  #wake(): void {
    const wakeUp = { reasons: this.#reasons, complaint: this.#complaint };
    this.#reasons = new Set();
    this.#complaint = undefined;
    this.#options.onWake(wakeUp);
  }
}

/** One value per line: its text, or nothing if it is too long to be looked into. */
async function* messages(
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<string | undefined, void, void> {
  const decoder = new TextDecoder();
  let [text, size] = ["", 0];
  for await (const chunk of bytes) {
    let start = 0;
    for (let end; (end = chunk.indexOf(NEWLINE, start)) !== -1; start = end + 1) {
      text += decoder.decode(chunk.subarray(start, end), { stream: true });
      yield size + end - start > MAX_MESSAGE_BYTES ? undefined : text;
      [text, size] = ["", 0];
    }
    size += chunk.length - start;
    if (size <= MAX_MESSAGE_BYTES) {
      text += decoder.decode(chunk.subarray(start), { stream: true });
    }
  }
}

function complaintOf(message: string | undefined): string | undefined {
  try {
    const said: unknown = JSON.parse(message ?? "{}")?.ErrMessage;
    return typeof said === "string" && said !== "" ? redactKeys(said) : undefined;
  } catch {
    // Something was said, and that is all a wake-up is about.
    return undefined;
  }
}
