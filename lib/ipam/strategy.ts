/**
 * Which free address is next.
 *
 * Each strategy looks at the runs of taken addresses (`lib/store/taken_runs.ts`), never at
 * the addresses themselves, so none of them gets slower as a pool fills or grows.
 */

import { fromPlace, toPlace } from "../store/address_key.ts";
import { type IpAddress } from "../ip/address.ts";
import { type AddressRange } from "../ip/range.ts";
import { type RandomBelow } from "../sys/random.ts";
import { type TakenRuns } from "../store/taken_runs.ts";

/** What a strategy sees. */
export interface Choice {
  readonly runs: Pick<TakenRuns, "has" | "nextFree" | "within">;
  /** What may be given out, in order. */
  readonly candidates: readonly AddressRange[];
  /** The address given out last. */
  readonly cursor: IpAddress | undefined;
  readonly random: RandomBelow;
}

/** Chooses a free address; `undefined` if there is none. */
export type Strategy = (choice: Choice) => IpAddress | undefined;

/** An interval of places, ends included. */
interface Span {
  readonly first: bigint;
  readonly last: bigint;
}

const STRATEGIES = { sequential, random, "dense-pack": densePack } as const;

/** The value of `ipam.strategy`. */
export type StrategyName = keyof typeof STRATEGIES;

/** All of them, the default first. */
export const STRATEGY_NAMES: readonly string[] = Object.keys(STRATEGIES);

/** Whether `name` is a strategy. */
export function isStrategyName(name: string): name is StrategyName {
  return Object.hasOwn(STRATEGIES, name);
}

/** The strategy called `name`. */
export function strategyOf(name: StrategyName): Strategy {
  return STRATEGIES[name];
}

/** The next after the last one given, wrapping: an address is reused as late as possible. */
function sequential({ runs, candidates, cursor }: Choice): IpAddress | undefined {
  const spans = candidates.map(spanOf);
  const at = cursor === undefined ? -1 : candidates.findIndex((range) => range.contains(cursor));
  const current = spans[at];
  if (cursor === undefined || current === undefined) return firstFree(runs, spans);
  const place = toPlace(cursor);
  return firstFree(runs, [
    { first: place + 1n, last: current.last },
    ...spans.slice(at + 1),
    ...spans.slice(0, at),
    { first: current.first, last: place },
  ]);
}

/** The lowest free one: the pool stays in as few addresses as it can. */
function densePack({ runs, candidates }: Choice): IpAddress | undefined {
  return firstFree(runs, candidates.map(spanOf));
}

/**
 * Tries before the gaps are listed. Once 256 tries have failed, with overwhelming likelihood
 * less than a sixteenth of the pool is free: few gaps are left, and listing them is cheap. The
 * expected number of gaps listed is at most size / (256 e), about a hundred for a /16.
 */
const RANDOM_TRIES = 256;

/** A pool up to this size has so few gaps that listing them costs less than many tries. */
const SMALL_POOL = 1024n;
const SMALL_POOL_TRIES = 8;

/**
 * Each free address with the same chance.
 *
 * A uniform draw from the whole pool that is repeated while it hits a taken address is
 * uniform over the free ones. In a nearly full pool it would be repeated for long, so the
 * gaps between the runs are counted there and one place among them is drawn.
 */
function random({ runs, candidates, random }: Choice): IpAddress | undefined {
  const spans = candidates.map(spanOf);
  const size = total(spans);
  const limit = size <= SMALL_POOL ? SMALL_POOL_TRIES : RANDOM_TRIES;
  for (let tries = 0; tries < limit; tries++) {
    const place = nth(spans, random(size));
    if (!runs.has(place)) return fromPlace(place);
  }
  const gaps = spans.flatMap((span) => gapsIn(runs, span));
  const free = total(gaps);
  return free === 0n ? undefined : fromPlace(nth(gaps, random(free)));
}

function firstFree(
  runs: Pick<TakenRuns, "nextFree">,
  spans: readonly Span[],
): IpAddress | undefined {
  for (const { first, last } of spans) {
    if (first > last) continue;
    const place = runs.nextFree(first);
    if (place <= last) return fromPlace(place);
  }
  return undefined;
}

/** What is free in `span`, in order. */
function gapsIn(runs: Pick<TakenRuns, "within">, span: Span): Span[] {
  const gaps: Span[] = [];
  let first = span.first;
  for (const run of runs.within(span.first, span.last)) {
    if (run.first > first) gaps.push({ first, last: run.first - 1n });
    first = run.last + 1n;
  }
  if (first <= span.last) gaps.push({ first, last: span.last });
  return gaps;
}

function spanOf(range: AddressRange): Span {
  return { first: toPlace(range.start), last: toPlace(range.end) };
}

function total(spans: readonly Span[]): bigint {
  return spans.reduce((sum, { first, last }) => sum + last - first + 1n, 0n);
}

/** The place number `index` of all places of `spans`. */
function nth(spans: readonly Span[], index: bigint): bigint {
  let rest = index;
  for (const { first, last } of spans) {
    if (first + rest <= last) return first + rest;
    rest -= last - first + 1n;
  }
  throw new RangeError(`Cannot take place ${index}: the pool is smaller`);
}
