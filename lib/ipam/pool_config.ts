/**
 * Pools from a network configuration, in the language of host-local
 * (https://www.cni.dev/plugins/current/ipam/host-local/) with `exclude`, `strategy` and
 * `cooldown` added.
 */

import { type IpAddress, parseAddress } from "../ip/address.ts";
import { parsePrefix, type Prefix } from "../ip/prefix.ts";
import { AddressRange, parseRange, usableRange } from "../ip/range.ts";
import { type JsonObject, JsonReader } from "../sys/json_reader.ts";
import { type PoolRange, RangeSet } from "./range_set.ts";
import { isStrategyName, STRATEGY_NAMES, type StrategyName } from "./strategy.ts";

/** How addresses are chosen and what from. */
export interface PoolConfig {
  readonly sets: readonly RangeSet[];
  readonly strategy: StrategyName;
  /** How long a released address rests. */
  readonly cooldownMs: number;
  /** Each range set in the words of the configuration, as JSON; see `parsePoolDefinitions`. */
  readonly definitions: readonly string[];
}

const DEFAULT_COOLDOWN_MS = 30_000;
const MAX_COOLDOWN_MS = 24 * 3600 * 1000;

/** A range as configured and where. */
interface ConfiguredRange extends PoolRange {
  readonly path: string;
}

/** A range set as configured and where. */
interface ConfiguredSet {
  readonly path: string;
  readonly ranges: readonly ConfiguredRange[];
}

/**
 * Reads the pools of the object `ipam`; `runtimeRanges` is `runtimeConfig.ipRanges`.
 *
 * @throws {ConfigError} naming every key that is wrong.
 */
export function parsePoolConfig(ipam: JsonObject, runtimeRanges?: unknown): PoolConfig {
  const reader = new JsonReader({ ipam, runtimeConfig: { ipRanges: runtimeRanges } }, {
    ignoreCase: true,
  });
  const pools = readPoolConfig(reader);
  reader.finish();
  return pools;
}

/**
 * Reads the pools of `ipam` and `runtimeConfig` in `reader`, which learns of every problem; what is
 * returned is of use only if there is none.
 */
export function readPoolConfig(reader: JsonReader): PoolConfig {
  const ipam = reader.object("ipam") ?? new JsonReader({}, { ignoreCase: true });
  const before = reader.problems.length;
  const configured = readSets(ipam, reader.object("runtimeConfig"));
  const excluded = readExcluded(ipam);
  const strategy = readStrategy(ipam);
  const cooldownMs = ipam.attempt("cooldown", () => parseCooldown(ipam.value("cooldown"))) ?? 0;
  // What follows compares ranges with each other: with one that is wrong it would only confuse.
  const isSound = reader.problems.length === before;
  if (configured.length === 0 && isSound) {
    reader.problem("ipam.ranges", 'is missing: there is no range; give "subnet" or "ranges"');
  }
  if (isSound) tellOverlaps(reader, configured);
  // The gateway of one set may lie in a range of another.
  const gateways = configured.flatMap(({ ranges }) => ranges)
    .map(({ gateway }) => new AddressRange(gateway, gateway));
  const sets = configured.map(({ ranges }) => new RangeSet(ranges, [...excluded, ...gateways]));
  for (const [index, set] of sets.entries()) {
    if (!isSound || set.size > 0n) continue;
    reader.problem(configured[index]?.path ?? "ipam.ranges", "has no address left to give out");
  }
  const exclude = excluded.map(String);
  const definitions = configured.map(({ ranges }) => JSON.stringify(describeSet(ranges, exclude)));
  return { sets, strategy, cooldownMs, definitions };
}

/** Range sets from the definitions that the store keeps, to allocate without a configuration. */
export function parsePoolDefinitions(definitions: readonly string[]): RangeSet[] {
  return definitions.map((definition) => {
    const { ranges, exclude = [] } = JSON.parse(definition);
    const reader = new JsonReader({ ranges: [ranges] }, { path: "pool" });
    const sets = readSetsAt(reader, "ranges");
    reader.finish();
    return new RangeSet(sets.flatMap((set) => set.ranges), exclude.map(parseRange));
  });
}

function describeSet(ranges: readonly PoolRange[], exclude: readonly string[]): JsonObject {
  return {
    ranges: ranges.map(({ subnet, span, gateway }) => ({
      subnet,
      rangeStart: span.start,
      rangeEnd: span.end,
      gateway,
    })),
    ...(exclude.length === 0 ? {} : { exclude }),
  };
}

/** As host-local orders them: the runtime's first, then `subnet`, then `ranges`. */
function readSets(ipam: JsonReader, runtime: JsonReader | undefined): ConfiguredSet[] {
  const alone = ipam.value("subnet") === undefined ? undefined : readRange(ipam);
  return [
    ...(runtime === undefined ? [] : readSetsAt(runtime, "ipRanges")),
    ...(alone === undefined ? [] : [{ path: ipam.path, ranges: [alone] }]),
    ...readSetsAt(ipam, "ranges"),
  ];
}

function readSetsAt(reader: JsonReader, key: string): ConfiguredSet[] {
  return (reader.objectLists(key) ?? []).map((list, index) => {
    const ranges = list.flatMap((range) => readRange(range) ?? []);
    const [first, ...others] = ranges;
    const other = others.find(({ subnet }) => subnet.family !== first?.subnet.family);
    if (other !== undefined) {
      list.find(({ path }) => path === other.path)?.problem(
        "",
        `is of another family (${other.subnet}) than ${first?.subnet}; ` +
          "give each a range set of its own",
      );
    }
    return { path: `${reader.path === "" ? "" : `${reader.path}.`}${key}[${index}]`, ranges };
  });
}

function readRange(reader: JsonReader): ConfiguredRange | undefined {
  const subnet = readSubnet(reader);
  const [start, last, gateway] = ["rangeStart", "rangeEnd", "gateway"].map((key) =>
    reader.parsed(key, (text) => text === "" ? undefined : parseAddress(text))
  );
  if (subnet === undefined) return undefined;
  const usable = usableRange(subnet);
  for (const [key, address] of Object.entries({ rangeStart: start, rangeEnd: last })) {
    if (address === undefined || subnet.contains(address)) continue;
    reader.problem(key, `is ${address}, which is not in subnet ${subnet}`);
    return undefined;
  }
  if (gateway !== undefined && gateway.family !== subnet.family) {
    reader.problem("gateway", `is ${gateway}, which is of another family than ${subnet}`);
    return undefined;
  }
  const span = readSpan(reader, [start ?? usable.start, last ?? usable.end], { subnet, usable });
  if (span === undefined) return undefined;
  return { subnet, span, gateway: gateway ?? usable.start, path: reader.path };
}

/** What may be given out between two ends: without network and broadcast address. */
function readSpan(
  reader: JsonReader,
  [start, last]: readonly [IpAddress, IpAddress],
  { subnet, usable }: { readonly subnet: Prefix; readonly usable: AddressRange },
): AddressRange | undefined {
  if (start.value > last.value) {
    reader.problem("rangeStart", `is ${start}, which is after rangeEnd ${last}`);
    return undefined;
  }
  const span = intersect(new AddressRange(start, last), usable);
  if (span === undefined) {
    const only = `${start}-${last} holds only the network or broadcast address of ${subnet}`;
    reader.problem("rangeStart", `is wrong: ${only}`);
  }
  return span;
}

function readSubnet(reader: JsonReader): Prefix | undefined {
  if (reader.value("subnet") === undefined || reader.value("subnet") === "") {
    reader.problem("subnet", "is missing");
    return undefined;
  }
  const subnet = reader.parsed("subnet", (text) => parsePrefix(text, { requireNetwork: true }));
  if (subnet === undefined || subnet.size >= 4n) return subnet;
  const longest = subnet.family === 4 ? 30 : 126;
  reader.problem(
    "subnet",
    `is ${subnet}, too small to allocate from; use /${longest} or larger`,
  );
  return undefined;
}

function intersect(a: AddressRange, b: AddressRange): AddressRange | undefined {
  if (!a.overlaps(b)) return undefined;
  const start = a.start.value > b.start.value ? a.start : b.start;
  return new AddressRange(start, a.end.value < b.end.value ? a.end : b.end);
}

function tellOverlaps(reader: JsonReader, sets: readonly ConfiguredSet[]): void {
  const ranges = sets.flatMap((set) => set.ranges);
  for (const [index, range] of ranges.entries()) {
    const other = ranges.slice(0, index).find(({ span }) => span.overlaps(range.span));
    if (other === undefined) continue;
    reader.problem(range.path, `(${range.span}) overlaps ${other.span} of ${other.path}`);
  }
}

function readExcluded(ipam: JsonReader): AddressRange[] {
  return (ipam.strings("exclude") ?? []).flatMap((text, index) =>
    ipam.attempt(`exclude[${index}]`, () => parseRange(text)) ?? []
  );
}

function readStrategy(ipam: JsonReader): StrategyName {
  const name = ipam.string("strategy");
  if (name === undefined || name === "") return "sequential";
  if (isStrategyName(name)) return name;
  ipam.problem("strategy", `is "${name}", none of ${STRATEGY_NAMES.join(", ")}`);
  return "sequential";
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/**
 * `ipam.cooldown` in milliseconds: a number of seconds, or a text such as `500ms`, `30s`, `5m`.
 *
 * @throws {TypeError} if it is none.
 */
export function parseCooldown(value: unknown): number {
  if (value === undefined) return DEFAULT_COOLDOWN_MS;
  const [, number, unit = "s"] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(String(value)) ?? [];
  const ms = Number(number) * (UNITS[unit] ?? NaN);
  if (ms <= MAX_COOLDOWN_MS) return Math.round(ms);
  throw new TypeError(
    `Cannot use ${JSON.stringify(value)}: it is no time such as 30, "500ms" or "5m", up to 24h`,
  );
}
