/** A ping that goes on: what was lost is known afterwards. */

import type { Namespace } from "../plugin/namespace.ts";

const INTERVAL_MS = 200;

/** Pings until it is disposed of. */
export class Beat implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #arrivals = new Map<number, number>();
  readonly #reading: Promise<void>;

  constructor(from: Namespace, address: string) {
    const ping = ["ping", "-n", "-i", `${INTERVAL_MS / 1000}`, address];
    const [program = "", ...args] = from.inside("env", "LC_ALL=C", ...ping);
    this.#child = new Deno.Command(program, {
      args,
      stdin: "null",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    this.#reading = this.#read();
  }

  async #read(): Promise<void> {
    let rest = "";
    for await (const chunk of this.#child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const number = /icmp_seq=(\d+) ttl=/.exec(line)?.[1];
        if (number !== undefined) this.#arrivals.set(Number(number), Date.now());
      }
    }
  }

  /** How many packets, but the last two, had no answer so far. */
  get lost(): number {
    const last = Math.max(0, ...this.#arrivals.keys());
    return last - this.#arrivals.size;
  }

  /** How many were answered. */
  get answered(): number {
    return this.#arrivals.size;
  }

  /** The longest time without an answer since `sinceMs`, as far as it has ended. */
  longestGapMs(sinceMs: number): number {
    const times = [...this.#arrivals.values()].filter((time) => time >= sinceMs - 2 * INTERVAL_MS);
    const gaps = times.map((time, index) => time - (times[index - 1] ?? time));
    return Math.max(0, ...gaps.map((gap) => gap - INTERVAL_MS));
  }

  /** When the last answer came. */
  get lastMs(): number {
    return Math.max(0, ...this.#arrivals.values());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#child.status;
    await this.#reading;
  }
}
