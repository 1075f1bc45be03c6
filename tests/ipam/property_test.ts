/**
 * The allocator against a model of a few lines: more than 100,000 operations at random, all
 * strategies, both families, requested and reserved addresses, restarts of the program and of
 * the machine, clock jumps.
 *
 * In process and without waiting for the disk (`synchronous=OFF`): what survives a crash is
 * for `crash_test.ts`, which kills real processes. A failure prints the seed to repeat it.
 */

import { assert, assertEquals } from "@std/assert";
import { type IpAddress, parseAddress } from "../../lib/ip/mod.ts";
import { allocate } from "../../lib/ipam/allocate.ts";
import {
  AddressUnavailableError,
  AttachmentConflictError,
  ExhaustedError,
} from "../../lib/ipam/errors.ts";
import { parsePoolConfig } from "../../lib/ipam/pool_config.ts";
import { type RangeSet } from "../../lib/ipam/range_set.ts";
import { release } from "../../lib/ipam/release.ts";
import { type StrategyName } from "../../lib/ipam/strategy.ts";
import { toPlace } from "../../lib/store/address_key.ts";
import { type Store } from "../../lib/store/mod.ts";
import { FakeBoot, openTestStore } from "../../lib/store/testing.ts";
import { seededRandom, temporaryDirectory } from "../../lib/sys/testing.ts";
import { Model, type ModelSet } from "./model.ts";

const OPERATIONS = 102_000;
const BATCH = 500;
const COOLDOWN_MS = 30_000;
const STRATEGIES: readonly [StrategyName, ...StrategyName[]] = [
  "sequential",
  "random",
  "dense-pack",
];

/** Small pools, so that they fill up; holes, several ranges, both families. */
const CONFIGS = [
  { subnet: "10.1.0.0/28", exclude: ["10.1.0.7"] },
  {
    ranges: [
      [{ subnet: "10.2.0.0/27", gateway: "10.2.0.9" }],
      [{ subnet: "fd00:2::/123", rangeStart: "fd00:2::3" }],
    ],
    exclude: ["10.2.0.16-10.2.0.19", "fd00:2::10/126"],
  },
  {
    ranges: [[
      { subnet: "10.3.1.0/28", rangeEnd: "10.3.1.9" },
      { subnet: "10.3.0.0/24", rangeStart: "10.3.0.250" },
    ]],
  },
  { ranges: [[{ subnet: "fd00:4::/123" }]] },
];

function enumerate(set: RangeSet): ModelSet {
  const addresses: string[] = [];
  for (const range of set.candidates) {
    for (let index = 0n; index < range.size; index++) addresses.push(`${range.at(index)}`);
  }
  return { family: set.family, addresses };
}

/** One network with its model; `step` does one operation to both. */
class Trial {
  readonly #random: ReturnType<typeof seededRandom>;
  readonly #directory: string;
  readonly #boot = new FakeBoot();
  readonly #config: ReturnType<typeof parsePoolConfig>;
  readonly #sets: readonly ModelSet[];
  readonly #model: Model;
  /** What allocations have led to so far. */
  readonly outcomes = new Set<string>();
  #wallMs = 1_700_000_000_000;
  #store: Store;

  constructor(seed: number, config: Record<string, unknown>, directory: string) {
    this.#random = seededRandom(seed);
    this.#directory = directory;
    this.#config = parsePoolConfig({ ...config, cooldown: COOLDOWN_MS / 1000 });
    this.#sets = this.#config.sets.map(enumerate);
    this.#model = new Model(this.#sets, COOLDOWN_MS);
    this.#store = this.#open();
  }

  step(): void {
    const dice = this.#random.integer(100);
    if (dice < 48) this.#allocate();
    else if (dice < 86) this.#release();
    else if (dice < 88) this.#reserve();
    else if (dice < 96) this.#passTime();
    else if (dice < 98) this.#reopen();
    else if (dice < 99) this.#wallMs += (this.#random.integer(2) * 2 - 1) * 86_400_000 * 365;
    else if (this.#random.integer(8) === 0) this.#reboot();
  }

  /** The tables agree with the model and with each other. */
  verify(): void {
    const network = this.#store.network("net");
    if (network === undefined) return assertEquals(this.#model.held().size, 0);
    const held = network.addresses.list().map(({ address }) => address);
    const resting = network.resting.list().map(({ address }) => address);
    assertEquals(held.map(String), sorted([...this.#model.held(), ...this.#model.reserved]));
    assertEquals(resting.map(String), this.#model.resting.map(({ address }) => address));
    const taken = [...held, ...resting].map(toPlace).sort((a, b) => a < b ? -1 : 1);
    assertEquals(network.runs.within(0n, 2n ** 128n - 1n), runsOf(taken));
    assertEquals(this.#store.verify(), []);
  }

  close(): void {
    this.#store[Symbol.dispose]();
  }

  #key(): { containerId: string; ifname: string } {
    return { containerId: `c${this.#random.integer(60)}`, ifname: "eth0" };
  }

  /** Any address of any set. */
  #address(): string {
    const set = this.#sets[this.#random.integer(this.#sets.length)]?.addresses ?? [];
    return set[this.#random.integer(set.length)] ?? "";
  }

  #allocate(): void {
    const key = this.#key();
    const strategy = this.#random.pick(STRATEGIES);
    const wish = this.#random.integer(6) === 0 ? this.#address() : undefined;
    const expected = this.#model.expect(key.containerId, strategy, wish);
    this.outcomes.add(expected.kind);
    const got = this.#attempt(key, strategy, wish);
    if (typeof got === "string") return assertEquals(got, expected.kind);
    if (expected.kind !== "exactly" && expected.kind !== "among") {
      throw new Error(`Expected ${expected.kind}, got ${got}`);
    }
    const texts = got.map(String);
    if (expected.kind === "exactly") assertEquals(texts, [...expected.addresses]);
    else {
      for (const [index, text] of texts.entries()) {
        assert(expected.choices[index]?.includes(text), `${text} was not free`);
      }
    }
    this.#model.allocated(key.containerId, got, wish);
  }

  #attempt(
    key: { containerId: string; ifname: string },
    strategy: StrategyName,
    wish: string | undefined,
  ): IpAddress[] | "exhausted" | "unavailable" | "conflict" {
    const requested = wish === undefined ? [] : [parseAddress(wish)];
    const request = { network: "net", key, ...this.#config, strategy, requested };
    const random = (limit: bigint) => this.#random.bigint(64) % limit;
    try {
      return allocate(this.#store, request, { random, now: () => this.#wallMs })
        .map(({ address }) => address.address);
    } catch (error) {
      if (error instanceof ExhaustedError) return "exhausted";
      if (error instanceof AddressUnavailableError) return "unavailable";
      if (error instanceof AttachmentConflictError) return "conflict";
      throw error;
    }
  }

  /** Reserves an address as `headcni ipam reserve` does, or ends its reservation. */
  #reserve(): void {
    const text = this.#address();
    const now = this.#model.toggleReserved(text);
    this.#store.transaction(() => {
      const network = this.#store.ensureNetwork("net");
      if (now === "reserved") network.hold(parseAddress(text), { kind: "reserved" });
      if (now === "resting") network.rest(parseAddress(text));
    });
  }

  #release(): void {
    const key = this.#key();
    const got = release(this.#store, { network: "net", key, cooldownMs: COOLDOWN_MS });
    assertEquals(got.map(String), [...this.#model.release(key.containerId)]);
  }

  #passTime(): void {
    const ms = this.#random.integer(20_000);
    this.#boot.advance(ms);
    this.#model.uptime += ms;
  }

  #reopen(): void {
    this.close();
    this.#store = this.#open();
  }

  #reboot(): void {
    this.#boot.restart();
    this.#model.restart();
    this.#reopen();
  }

  #open(): Store {
    return openTestStore(this.#boot, `${this.#directory}/store.db`);
  }
}

function sorted(addresses: readonly string[]): string[] {
  return addresses.map(parseAddress).sort((a, b) => a.compare(b)).map(String);
}

function runsOf(places: readonly bigint[]): { first: bigint; last: bigint }[] {
  const runs: { first: bigint; last: bigint }[] = [];
  for (const place of places) {
    const run = runs.at(-1);
    if (run?.last === place - 1n) run.last = place;
    else runs.push({ first: place, last: place });
  }
  return runs;
}

for (const [index, config] of CONFIGS.entries()) {
  const seed = Number(Deno.env.get("HEADCNI_TEST_SEED") ?? Date.now() % 1_000_000) + index;
  Deno.test(`allocator and model agree on ${JSON.stringify(config)} (seed ${seed})`, () => {
    using directory = temporaryDirectory();
    const trial = new Trial(seed, config, directory.path);
    let done = 0;
    try {
      for (; done < OPERATIONS / CONFIGS.length; done++) {
        trial.step();
        if (done % BATCH === 0) trial.verify();
      }
      trial.verify();
      // Otherwise the model would agree to something that never happened.
      const outcomes = ["exactly", "among", "unavailable", "conflict", "exhausted"];
      assertEquals(outcomes.filter((kind) => !trial.outcomes.has(kind)), []);
    } catch (error) {
      throw new Error(`Cannot go on after ${done} operations with seed ${seed}`, { cause: error });
    } finally {
      trial.close();
    }
  });
}
