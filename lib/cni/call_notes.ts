/**
 * What a call notes about itself while it runs: for the daemon (`hint.ts`) and the log, never for
 * the answer.
 */

import { type Clock, systemClock } from "../sys/clock.ts";
import { type CallParameters } from "./environment.ts";
import { type CniErrorObject } from "./error_code.ts";
import { type NetworkConfig } from "./network_config.ts";

/** How long each part of a call took, and what is known of it so far. */
export class CallNotes {
  /** The value of `CNI_COMMAND`. */
  readonly command: string;
  /** As soon as it is decoded. */
  config: NetworkConfig | undefined;
  /** As soon as they are read; for verbs about one interface only. */
  parameters: CallParameters | undefined;
  /** Given by ADD, or taken back by DEL. */
  addresses: readonly string[] = [];
  /** What was written to standard error on the way. */
  readonly said: string[] = [];
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #phasesMs: Record<string, number> = {};
  #markedMs = 0;

  constructor(command: string, clock: Pick<Clock, "monotonicMs"> = systemClock) {
    this.command = command;
    this.#clock = clock;
    // The clock runs since the engine started: what lies before is a phase like any other.
    this.mark("start");
  }

  /** A phase ends here; what follows belongs to the next one. */
  mark(phase: string): void {
    const now = this.#clock.monotonicMs();
    this.#phasesMs[phase] = (this.#phasesMs[phase] ?? 0) + now - this.#markedMs;
    this.#markedMs = now;
  }

  /** Milliseconds by phase, in the order the phases ended, and `total`, which is their sum. */
  phasesMs(): Readonly<Record<string, number>> {
    const rounded = (ms: number) => Math.round(ms * 1000) / 1000;
    const phases = Object.entries({ ...this.#phasesMs, total: this.#markedMs });
    return Object.fromEntries(phases.map(([phase, ms]) => [phase, rounded(ms)]));
  }
}

/** A call that has been answered. */
export interface CallEnd {
  readonly notes: CallNotes;
  /** What was thrown, and how it was told; `undefined` for a success. */
  readonly failure: { readonly error: unknown; readonly told: CniErrorObject } | undefined;
}
