/**
 * Keeps a node in the tailnet: looks, decides, acts, waits.
 *
 * It looks again when tailscaled says something, when the kernel changes, when Headscale has
 * answered, and every half minute in any case. Headscale is asked beside the loop: it may take
 * its time, and nothing on this node waits for it.
 */

import { backoffMs } from "../../sys/backoff.ts";
import { describeError, HeadcniError } from "../../sys/errors.ts";
import { findOtherTailscaled, watchBus } from "../../tailscale/mod.ts";
import { apply, type ApplyContext } from "./apply.ts";
import { type Condition, condition } from "./condition.ts";
import type { Desired } from "./desired.ts";
import { askHeadscale, askTailscaled } from "./observe_tailnet.ts";
import { type Memory, NO_MEMORY, type Observed } from "./observed.ts";
import { type Plan, reconcile } from "./reconcile.ts";
import { readRecord } from "./record.ts";
import { describeStep, type Step } from "./step.ts";
import type { LatencyHistogram } from "../../headscale/mod.ts";
import type { LocalApi } from "../../tailscale/mod.ts";
import type { ProcessTable } from "../../sys/process_table.ts";
import { openOwnNetns } from "../../netlink/mod.ts";
import { Bell, watchKernel } from "./wake.ts";

/** What a {@linkcode TailnetLoop} works with. */
export interface LoopContext extends ApplyContext {
  readonly desired: Desired;
  readonly api: LocalApi;
  readonly table: ProcessTable;
  /** How long Headscale took to answer, since this was opened. */
  readonly latency: LatencyHistogram;
}

/** What the loop found at its last look. */
export interface Report {
  readonly conditions: readonly Condition[];
  readonly observed: Observed;
}

/** Between two looks, if nothing happens. */
const TICK_MS = 30_000;
/** Several events in a row are one. */
const SETTLE_MS = 50;
/** Rounds of look and act before it waits in any case. */
const MAX_PASSES = 6;
const ASK_PAUSE_MS = 1000;
const RETRY = { baseMs: 1000, capMs: 15_000 };

/** See the top of this file. */
export class TailnetLoop {
  readonly #context: LoopContext;
  readonly #bell = new Bell();
  readonly #onReport: (report: Report) => void;
  #memory: Memory = NO_MEMORY;
  #headscale: Observed["headscale"];
  #asked = { beganMs: -Infinity, atMs: -Infinity, failures: 0, running: false };
  #other: string | undefined;
  #failures = new Map<Step["do"], Condition>();
  #failedRounds = 0;
  #shown = new Map<string, Condition>();

  constructor(context: LoopContext, onReport: (report: Report) => void = () => {}) {
    this.#context = context;
    this.#onReport = onReport;
  }

  /** Runs until the signal. @throws what is no expected failure. */
  async run(signal: AbortSignal): Promise<void> {
    const { api, log, clock, desired } = this.#context;
    const stop = new AbortController();
    const end = () => stop.abort();
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
    const wakers = Promise.all([
      watchBus(api, { signal: stop.signal, onWake: () => this.#bell.ring(), log, clock }),
      watchKernel(this.#bell, { tun: desired.tun, signal: stop.signal }),
    ]);
    wakers.catch(end);
    try {
      await Promise.race([this.#rounds(stop.signal), wakers]);
    } finally {
      end();
      signal.removeEventListener("abort", end);
      await wakers;
    }
  }

  /** Looks again soon: what it works with has changed. */
  wake(): void {
    this.#bell.ring();
  }

  async #rounds(signal: AbortSignal): Promise<void> {
    const { clock } = this.#context;
    // By the clock, not by how long nothing happened: something always happens.
    for (let nextTickMs = -Infinity; !signal.aborted;) {
      const isTick = clock.monotonicMs() >= nextTickMs;
      if (isTick) {
        nextTickMs = clock.monotonicMs() + backoffMs(1, { baseMs: TICK_MS, capMs: TICK_MS });
        this.#other = await this.#findOther();
      }
      const plan = await this.#round(signal);
      if (isTick || plan.wantsHeadscale) this.#ask(signal, isTick);
      const untilTickMs = Math.max(0, nextTickMs - clock.monotonicMs());
      const waitMs = Math.min(untilTickMs, this.#waitMs(plan));
      await this.#bell.wait(waitMs, { clock, signal });
      if (!signal.aborted) await clock.sleep(SETTLE_MS, { signal }).catch(() => {});
    }
  }

  #waitMs(plan: Plan): number {
    if (this.#failures.size > 0) return backoffMs(Math.max(1, this.#failedRounds), RETRY);
    // Something passes by itself, or is late: look again before the half minute is over.
    return plan.conditions.length > 0 || plan.wantsHeadscale ? 2 * ASK_PAUSE_MS : TICK_MS;
  }

  /** Looks and acts until there is nothing left to do, or nothing more can be done now. */
  async #round(signal: AbortSignal): Promise<Plan> {
    this.#failures.clear();
    for (let pass = 1;; pass++) {
      const observed = await this.#observe(signal);
      const plan = reconcile(this.#context.desired, observed);
      this.#memory = plan.memory;
      const conditions = [...plan.conditions, ...this.#failures.values()];
      this.#tell(conditions);
      this.#onReport({ conditions, observed });
      const steps = plan.steps.filter(({ do: kind }) => !this.#failures.has(kind));
      if (steps.length === 0 || pass >= MAX_PASSES || signal.aborted) {
        this.#failedRounds = this.#failures.size > 0 ? this.#failedRounds + 1 : 0;
        return plan;
      }
      await this.#apply(steps);
    }
  }

  async #observe(signal: AbortSignal): Promise<Observed> {
    const { desired, kernel, api, clock, files, recordPath } = this.#context;
    const isolated = desired.isolation === "netns";
    return {
      nowMs: clock.monotonicMs(),
      wallMs: clock.now(),
      tailscaled: await askTailscaled(api, signal),
      headscale: this.#headscale,
      headscaleAtMs: this.#asked.beganMs,
      node: kernel.view(desired.tun),
      filter: kernel.filterView(),
      room: isolated ? kernel.roomView(desired.tun) : undefined,
      otherTailscaled: this.#other,
      record: readRecord(files, recordPath),
      memory: this.#memory,
    };
  }

  async #apply(steps: readonly Step[]): Promise<void> {
    const { log } = this.#context;
    for (const step of steps) {
      try {
        this.#memory = await apply(step, this.#context, this.#memory);
        log.info("done", { step: describeStep(step) });
        // What Headscale said before is not so any more.
        if (step.do === "approve" || step.do === "withdraw" || step.do === "nudge") {
          this.#headscale = undefined;
        }
      } catch (error) {
        if (!(error instanceof HeadcniError)) throw error;
        const message = `${describeStep(step)}: ${describeError(error)}`;
        this.#failures.set(step.do, condition("StepFailed", message, error.remedy));
        log.warn("failed", { step: describeStep(step), error });
        // What was not written down must not be changed.
        if (step.do === "remember") return;
      }
    }
  }

  /** Asks Headscale beside the loop, not more often than is of use. */
  #ask(signal: AbortSignal, isTick: boolean): void {
    const { headscale, clock } = this.#context;
    const { atMs, failures, running } = this.#asked;
    const pauseMs = failures === 0 ? ASK_PAUSE_MS : backoffMs(failures, RETRY);
    if (running || (!isTick && clock.monotonicMs() - atMs < pauseMs)) return;
    const began = clock.monotonicMs();
    this.#asked = { ...this.#asked, running: true };
    askHeadscale(headscale, signal).then((answer) => {
      this.#headscale = answer;
      if (answer.ok && failures > 0) headscale.forget();
      this.#asked = {
        beganMs: began,
        atMs: clock.monotonicMs(),
        failures: answer.ok ? 0 : failures + 1,
        running: false,
      };
      this.#bell.ring();
    }, () => {
      // Only the signal ends it otherwise.
      this.#asked = { ...this.#asked, running: false };
    });
  }

  async #findOther(): Promise<string | undefined> {
    const { desired, kernel, supervisor, table } = this.#context;
    if (desired.mode !== "daemon" || supervisor === undefined) return undefined;
    if (desired.isolation === "netns") return undefined;
    const { state } = supervisor;
    if (state.phase !== "running") return undefined;
    using netns = openOwnNetns();
    return await findOtherTailscaled({
      netnsId: netns.id,
      connection: kernel.route,
      table,
      ownPid: state.pid,
      ownTun: desired.tun,
      answersAtUsualSocket: () => Promise.resolve(false),
    });
  }

  /** Logs what is new and what is over. */
  #tell(conditions: readonly Condition[]): void {
    const { log } = this.#context;
    const now = new Map(conditions.map((one) => [`${one.code} ${one.message}`, one]));
    for (const [key, { code, severity, message, remedy }] of now) {
      if (this.#shown.has(key)) continue;
      const level = severity === "error" ? "error" : severity === "warning" ? "warn" : "info";
      log[level](message, { code, remedy });
    }
    for (const [key, { code, message }] of this.#shown) {
      if (!now.has(key)) log.info("over", { code, message });
    }
    this.#shown = now;
  }
}
