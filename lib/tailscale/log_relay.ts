/** What tailscaled prints, passed on to our log: without keys, and not without limit. */

import type { Clock } from "../sys/clock.ts";
import type { Log } from "../sys/log.ts";
import { redact, type Secret } from "../sys/secret.ts";
import { redactKeys } from "./redact_keys.ts";

/** Options for {@linkcode LogRelay}. */
export interface LogRelayOptions {
  readonly log: Log;
  readonly clock: Pick<Clock, "monotonicMs">;
  /** Lines that may come at once. @default {100} */
  readonly burst?: number;
  /** Lines per second in the long run. @default {10} */
  readonly perSecond?: number;
}

/** Lines kept for the day it ends unexpectedly. */
const KEPT_LINES = 5;
const MAX_SECRETS = 32;

/** Passes lines on; a token bucket says how many. */
export class LogRelay {
  readonly #options: LogRelayOptions;
  readonly #burst: number;
  readonly #perSecond: number;
  #tokens: number;
  #countedAtMs: number;
  #leftOut = 0;
  #last: string[] = [];
  #secrets: Secret[] = [];

  constructor(options: LogRelayOptions) {
    this.#options = options;
    this.#burst = options.burst ?? 100;
    this.#perSecond = options.perSecond ?? 10;
    this.#tokens = this.#burst;
    this.#countedAtMs = options.clock.monotonicMs();
  }

  /** Takes `secret` out of all lines from now on; of many, the last ones count. */
  conceal(secret: Secret): void {
    this.#secrets = [secret, ...this.#secrets].slice(0, MAX_SECRETS);
  }

  /** Passes on one line, or counts it as left out. */
  readonly line = (text: string): void => {
    const line = redactKeys(redact(withoutTime(text), this.#secrets));
    this.#last = [...this.#last, line].slice(-KEPT_LINES);
    this.#refill();
    if (this.#tokens < 1) {
      this.#leftOut += 1;
      return;
    }
    this.#tokens -= 1;
    this.#tellLeftOut();
    // Every start is forty lines; what a person should see is in the status' health.
    this.#options.log.debug(line);
  };

  /** What it said last, left out or not. */
  lastLines(): readonly string[] {
    return this.#last;
  }

  #refill(): void {
    const now = this.#options.clock.monotonicMs();
    const gained = (now - this.#countedAtMs) / 1000 * this.#perSecond;
    this.#tokens = Math.min(this.#burst, this.#tokens + gained);
    this.#countedAtMs = now;
  }

  #tellLeftOut(): void {
    if (this.#leftOut === 0) return;
    this.#options.log.warn("lines of tailscaled were left out", { lines: this.#leftOut });
    this.#leftOut = 0;
  }
}

/** Our log has a time of its own. */
function withoutTime(line: string): string {
  return line.replace(/^\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d /, "");
}
