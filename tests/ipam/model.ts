/**
 * What the allocator should do, in the plainest way: lists of texts, searched from the front.
 *
 * Nothing is shared with the code under test but the address arithmetic.
 */

import { type IpAddress } from "../../lib/ip/mod.ts";

/** One range set: every address that may be given out, in order. */
export interface ModelSet {
  readonly family: 4 | 6;
  readonly addresses: readonly string[];
}

/** What the model expects of an allocation. */
export type Expected =
  | { readonly kind: "exactly"; readonly addresses: readonly string[] }
  | { readonly kind: "among"; readonly choices: readonly (readonly string[])[] }
  | { readonly kind: "exhausted" | "unavailable" | "conflict" };

interface Holder {
  readonly boot: number;
  readonly addresses: readonly string[];
}

interface Resting {
  readonly address: string;
  readonly family: 4 | 6;
  readonly boot: number;
  readonly at: number;
}

/** The most addresses of a family that one call wakes. */
const WAKE_LIMIT = 64;

/** A network in memory. */
export class Model {
  readonly holders = new Map<string, Holder>();
  readonly reserved = new Set<string>();
  resting: Resting[] = [];
  readonly #sets: readonly ModelSet[];
  readonly #cursors: (string | undefined)[] = [];
  readonly #restMs: number;
  boot = 1;
  uptime = 0;

  constructor(sets: readonly ModelSet[], restMs: number) {
    this.#sets = sets;
    this.#restMs = restMs;
  }

  /** Addresses somebody holds. */
  held(): Set<string> {
    return new Set([...this.holders.values()].flatMap(({ addresses }) => addresses));
  }

  restart(): void {
    this.boot++;
    this.uptime = 0;
  }

  /**
   * What an allocation gives, before it is told with {@linkcode Model.allocated}; `wish` is an
   * address that is asked for.
   */
  expect(key: string, strategy: string, wish?: string): Expected {
    const before = { holders: [...this.holders], resting: this.resting };
    this.#wake();
    const expected = this.#expect(key, strategy, wish);
    if (expected.kind === "exactly" || expected.kind === "among") return expected;
    // The transaction that woke and reclaimed is undone.
    this.resting = before.resting;
    this.holders.clear();
    for (const [id, one] of before.holders) this.holders.set(id, one);
    return expected;
  }

  #expect(key: string, strategy: string, wish: string | undefined): Expected {
    const holder = this.holders.get(key);
    if (holder !== undefined) {
      const fits = wish === undefined || holder.addresses.includes(wish);
      if (fits) return { kind: "exactly", addresses: holder.addresses };
      if (holder.boot === this.boot) return { kind: "conflict" };
      this.holders.delete(key);
    }
    const choices: (readonly string[])[] = [];
    for (const [index, set] of this.#sets.entries()) {
      const isWished = wish !== undefined && set.addresses.includes(wish);
      if (isWished && (this.held().has(wish) || this.reserved.has(wish))) {
        return { kind: "unavailable" };
      }
      const chosen = isWished ? [wish] : this.#choose(set, index, strategy);
      if (chosen.length === 0) return { kind: "exhausted" };
      choices.push(chosen);
    }
    return choices.every((chosen) => chosen.length === 1)
      ? { kind: "exactly", addresses: choices.flat() }
      : { kind: "among", choices };
  }

  /** The allocation took place. */
  allocated(key: string, addresses: readonly IpAddress[], wish?: string): void {
    const texts = addresses.map(String);
    const isNew = !this.holders.has(key);
    this.holders.set(key, { boot: this.boot, addresses: texts });
    if (!isNew) return;
    this.resting = this.resting.filter(({ address }) => !texts.includes(address));
    for (const [index, text] of texts.entries()) {
      if (text !== wish) this.#cursors[index] = text;
    }
  }

  /** Nobody gets `address`, until it is told again; returns what it is now. */
  toggleReserved(address: string): "reserved" | "resting" | "held" {
    if (this.held().has(address)) return "held";
    if (this.reserved.delete(address)) {
      this.#rest(address);
      return "resting";
    }
    this.resting = this.resting.filter((one) => one.address !== address);
    this.reserved.add(address);
    return "reserved";
  }

  release(key: string): readonly string[] {
    const addresses = this.holders.get(key)?.addresses ?? [];
    this.holders.delete(key);
    for (const address of addresses) this.#rest(address);
    this.#wake();
    return addresses;
  }

  #rest(address: string): void {
    const family = address.includes(":") ? 6 : 4;
    this.resting.push({ address, family, boot: this.boot, at: this.uptime });
  }

  #wake(): void {
    for (const family of [4, 6]) {
      const queue = this.resting.filter((one) => one.family === family).slice(0, WAKE_LIMIT);
      const still = queue.findIndex((one) =>
        one.boot === this.boot && this.uptime - one.at < this.#restMs
      );
      const woken = new Set(still === -1 ? queue : queue.slice(0, still));
      this.resting = this.resting.filter((one) => !woken.has(one));
    }
  }

  /** All addresses the strategy may give; one, unless it draws at random. */
  #choose(set: ModelSet, index: number, strategy: string): readonly string[] {
    let free = this.#free(set);
    if (free.length === 0) {
      for (const [key, { boot }] of [...this.holders]) {
        if (boot !== this.boot) this.holders.delete(key);
      }
      free = this.#free(set);
    }
    if (free.length === 0) {
      const oldest = this.resting.find(({ address }) => set.addresses.includes(address));
      return oldest === undefined ? [] : [oldest.address];
    }
    if (strategy === "random") return free;
    if (strategy === "dense-pack") return free.slice(0, 1);
    const at = set.addresses.indexOf(this.#cursors[index] ?? "");
    const after = free.find((address) => set.addresses.indexOf(address) > at);
    return [after ?? free[0] ?? ""];
  }

  #free(set: ModelSet): string[] {
    const held = this.held();
    const resting = new Set(this.resting.map(({ address }) => address));
    return set.addresses.filter((address) =>
      !held.has(address) && !resting.has(address) && !this.reserved.has(address)
    );
  }
}
