/** Breaks something, and measures until it works again. */

import { assert } from "@std/assert";
import { Beat } from "./beat.ts";
import { type Cluster, explain, POD_PORT } from "./cluster.ts";
import type { AttachedPod, TailnetNode } from "./tailnet_node.ts";
import { report, until } from "./until.ts";

/** Two pods of one node, and one of another, under observation. */
export class Watch implements AsyncDisposable {
  readonly cluster: Cluster;
  readonly victim: TailnetNode;
  readonly other: TailnetNode;
  /** Between two pods of the victim: never interrupted. */
  readonly local: Beat;
  /** From the victim to the other node. */
  readonly remote: Beat;

  constructor(cluster: Cluster, victim: TailnetNode, other: TailnetNode) {
    this.cluster = cluster;
    this.victim = victim;
    this.other = other;
    const [first, second] = victim.pods;
    const [far] = other.pods;
    assert(first !== undefined && second !== undefined && far !== undefined);
    this.local = new Beat(first.pod.namespace, second.address4);
    this.remote = new Beat(first.pod.namespace, far.address4);
  }

  /** The first pod of the victim and of the other node. */
  get pair(): readonly [AttachedPod, AttachedPod] {
    const [near, far] = [this.victim.pods[0], this.other.pods[0]];
    assert(near !== undefined && far !== undefined);
    return [near, far];
  }

  /**
   * Injects a fault and waits until `noticed` is so, if given, and pods of both nodes reach each
   * other again, both ways, in both families. Prints how long it took.
   */
  async recoversFrom(
    name: string,
    fault: () => unknown,
    options: {
      readonly noticed?: () => Promise<boolean>;
      readonly healed?: () => Promise<boolean>;
    } = {},
  ): Promise<void> {
    const start = Date.now();
    await fault();
    const injected = Date.now();
    if (options.noticed !== undefined) {
      await until(`${name}: it is noticed`, options.noticed, { explain: () => this.#explain() });
    }
    await until(`${name}: healed`, options.healed ?? (() => Promise.resolve(true)), {
      explain: () => this.#explain(),
    });
    await until(`${name}: pods reach each other again`, () => this.#works(), {
      explain: () => this.#explain(),
    });
    const gap = this.remote.longestGapMs(start);
    report(`${name}: recovered after ${Date.now() - injected} ms, without answers for ${gap} ms`);
  }

  async #works(): Promise<boolean> {
    const [near, far] = this.pair;
    const calls = [
      near.pod.namespace.fetch(far.address4, POD_PORT),
      near.pod.namespace.fetch(far.address6, POD_PORT),
      far.pod.namespace.fetch(near.address4, POD_PORT),
      far.pod.namespace.fetch(near.address6, POD_PORT),
    ];
    const seen = await Promise.all(calls);
    return seen[0] === near.address4 && seen[1] === near.address6 &&
      seen[2] === far.address4 && seen[3] === far.address6;
  }

  async #explain(): Promise<string> {
    return `${await explain(this.victim)}\n=== other\n${await explain(this.other)}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.local[Symbol.asyncDispose]();
    await this.remote[Symbol.asyncDispose]();
  }
}
