/** The time of a call, shared out among the plugins of a chain. */

import { type Clock, systemClock } from "../../sys/clock.ts";
import { limitMs } from "../dispatch.ts";
import { type Command } from "../plugin_exec.ts";

/** To stop a plugin, to record what happened and to answer before the call's own limit. */
const RESERVE = 0.15;
const LEAST_RESERVE_MS = 300;

/** What the other plugins can count on although one hangs. */
const LEAST_MS = 1000;

/** Of the time of an ADD, this part is for the ADDs; the rest for the DELs if one fails. */
const ADD_PART = 0.6;

/** What is left of the time of a call. */
export class Budget {
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #endMs: number;
  readonly #addEndMs: number;

  constructor(command: Command, clock: Pick<Clock, "monotonicMs"> = systemClock) {
    const [start, limit] = [clock.monotonicMs(), limitMs(command)];
    const usable = limit - Math.max(limit * RESERVE, LEAST_RESERVE_MS);
    this.#clock = clock;
    this.#endMs = start + usable;
    this.#addEndMs = start + usable * ADD_PART;
  }

  /** For the next of `count` plugins: all but what the others need at least. */
  share(count: number): number {
    const left = this.#endMs - this.#clock.monotonicMs();
    const least = Math.min(LEAST_MS, Math.max(left, 1) / count);
    return Math.max(Math.round(left - least * (count - 1)), 1);
  }

  /** For an ADD, which must leave time to undo it. */
  addShare(): number {
    return Math.max(Math.round(this.#addEndMs - this.#clock.monotonicMs()), 1);
  }
}
