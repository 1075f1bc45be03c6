/** When to look again: a bell that many may ring and one waits for. */

import { type MonitorEvent, openMonitor } from "../../netlink/monitor.ts";
import type { Clock } from "../../sys/clock.ts";
import { OUTSIDE, RTPROT_HEADCNI } from "../../tailscale/mod.ts";
import { PRIORITIES } from "./kernel_plan.ts";

/** Rung by anybody, waited for by one. A ring while nobody waits is kept. */
export class Bell {
  #rung = false;
  #wake: (() => void) | undefined;

  /** Wakes whoever waits. */
  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }

  /** Waits for a ring, `limitMs` at most. @returns whether it rang. */
  async wait(
    limitMs: number,
    options: { readonly clock: Clock; readonly signal: AbortSignal },
  ): Promise<boolean> {
    const { clock, signal } = options;
    if (!this.#rung) {
      const stop = new AbortController();
      const end = () => stop.abort();
      this.#wake = end;
      signal.addEventListener("abort", end, { once: true });
      if (signal.aborted) end();
      await clock.sleep(limitMs, { signal: stop.signal }).catch(() => {});
      signal.removeEventListener("abort", end);
      this.#wake = undefined;
    }
    const rang = this.#rung;
    this.#rung = false;
    return rang;
  }
}

/** Rings when the kernel changes in a way that may matter, until the signal. */
export async function watchKernel(
  bell: Bell,
  options: { readonly tun: string; readonly signal: AbortSignal },
): Promise<void> {
  const { tun, signal } = options;
  using monitor = openMonitor({ subjects: ["link", "route", "rule"], signal });
  for await (const event of monitor) if (matters(event, tun)) bell.ring();
}

/** Pods come and go all the time; only the tunnel, rules near ours and our own routes count. */
function matters(event: MonitorEvent, tun: string): boolean {
  switch (event.subject) {
    case "link":
      return event.link.name === tun || event.link.name === OUTSIDE.link;
    case "rule":
      return event.change === "delete" && event.rule.priority >= PRIORITIES.first &&
        event.rule.priority <= PRIORITIES.last;
    case "route":
      return event.change === "delete" && event.route.protocol === RTPROT_HEADCNI;
    case "resync":
      return true;
    default:
      return false;
  }
}
