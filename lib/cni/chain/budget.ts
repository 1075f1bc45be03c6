/** The time of a call, shared out among the plugins of a chain. */

import { type PluginCall } from "../dispatch.ts";

/** To stop a plugin, to record what happened and to answer before the call's own limit. */
const RESERVE = 0.15;
const LEAST_RESERVE_MS = 300;

/** What the other plugins can count on although one hangs. */
const LEAST_MS = 1000;

/** Of the time of an ADD, this part is for the ADDs; the rest for the DELs if one fails. */
const ADD_PART = 0.6;

/** What is left of the time of a call. */
export class Budget {
  readonly #leftMs: () => number;
  /** Of what is left, for the DELs. */
  readonly #undoMs: number;

  constructor({ leftMs }: Pick<PluginCall, "leftMs">) {
    const all = leftMs();
    const reserve = Math.max(all * RESERVE, LEAST_RESERVE_MS);
    this.#leftMs = () => leftMs() - reserve;
    this.#undoMs = (all - reserve) * (1 - ADD_PART);
  }

  /** For the next of `count` plugins: all but what the others need at least. */
  share(count: number): number {
    const left = this.#leftMs();
    const least = Math.min(LEAST_MS, Math.max(left, 1) / count);
    return Math.max(Math.round(left - least * (count - 1)), 1);
  }

  /** For an ADD, which must leave time to undo it. */
  addShare(): number {
    return Math.max(Math.round(this.#leftMs() - this.#undoMs), 1);
  }
}
