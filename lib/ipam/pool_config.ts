/**
 * Pools from a network configuration, in the language of host-local
 * (https://www.cni.dev/plugins/current/ipam/host-local/) with `exclude`, `strategy` and
 * `cooldown` added.
 */

import { type IpAddress, parseAddress } from "../ip/address.ts";
import { parsePrefix, type Prefix } from "../ip/prefix.ts";
import { AddressRange, parseRange, usableRange } from "../ip/range.ts";
import {
  isObject,
  type JsonObject,
  kindOf,
  listOf,
  parseAt,
  textOf,
  valueOf,
} from "./config_value.ts";
import { PoolConfigError } from "./errors.ts";
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

/**
 * Reads the pools of the object `ipam`; `runtimeRanges` is `runtimeConfig.ipRanges`.
 *
 * @throws {PoolConfigError} naming the key.
 */
export function parsePoolConfig(ipam: JsonObject, runtimeRanges?: unknown): PoolConfig {
  const sources = rangeSources(ipam, runtimeRanges);
  if (sources.length === 0) {
    throw new PoolConfigError("ipam.ranges", 'there is no range; give "subnet" or "ranges"');
  }
  const excluded = listOf(ipam, "exclude", "ipam.exclude").map((value, index) =>
    parseExcluded(value, `ipam.exclude[${index}]`)
  );
  const parsed = sources.map(({ path, ranges }) => parseSet(ranges, path));
  refuseOverlaps(parsed);
  // The gateway of one set may lie in a range of another.
  const gateways = parsed.flat().map(({ gateway }) => new AddressRange(gateway, gateway));
  const sets = parsed.map((ranges) => new RangeSet(ranges, [...excluded, ...gateways]));
  for (const [index, set] of sets.entries()) {
    if (set.size > 0n) continue;
    throw new PoolConfigError(
      sources[index]?.path ?? "ipam.ranges",
      "no address is left to give out",
    );
  }
  const exclude = excluded.map(String);
  return {
    sets,
    strategy: parseStrategy(ipam),
    cooldownMs: parseCooldown(valueOf(ipam, "cooldown")),
    definitions: parsed.map((ranges) => JSON.stringify(describeSet(ranges, exclude))),
  };
}

/** Range sets from the definitions that the store keeps, to allocate without a configuration. */
export function parsePoolDefinitions(definitions: readonly string[]): RangeSet[] {
  return definitions.map((definition, index) => {
    const { ranges, exclude = [] } = JSON.parse(definition);
    return new RangeSet(parseSet(ranges, `pool ${index}`), exclude.map(parseRange));
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
function rangeSources(
  ipam: JsonObject,
  runtimeRanges: unknown,
): { readonly path: string; readonly ranges: unknown }[] {
  const runtime = listOf({ ipRanges: runtimeRanges }, "ipRanges", "runtimeConfig.ipRanges");
  const sources: { path: string; ranges: unknown }[] = runtime.map((ranges, index) => ({
    path: `runtimeConfig.ipRanges[${index}]`,
    ranges,
  }));
  if (valueOf(ipam, "subnet") !== undefined) sources.push({ path: "ipam", ranges: [ipam] });
  for (const [index, ranges] of listOf(ipam, "ranges", "ipam.ranges").entries()) {
    sources.push({ path: `ipam.ranges[${index}]`, ranges });
  }
  return sources;
}

function parseSet(value: unknown, path: string): ConfiguredRange[] {
  if (!Array.isArray(value) || value.length === 0) {
    throw new PoolConfigError(path, `it is ${kindOf(value)} instead of a list of ranges`);
  }
  const ranges = value.map((range, index) => {
    // `subnet` and its neighbours at the top of `ipam` are a set of one.
    const at = path === "ipam" ? path : `${path}[${index}]`;
    if (!isObject(range)) {
      throw new PoolConfigError(at, `it is ${kindOf(range)} instead of a range`);
    }
    return parsePoolRange(range, at);
  });
  const [first, ...others] = ranges;
  const other = others.find(({ subnet }) => subnet.family !== first?.subnet.family);
  if (other !== undefined) {
    throw new PoolConfigError(
      other.path,
      `${other.subnet} and ${first?.subnet} are of two families; give each a range set of its own`,
    );
  }
  return ranges;
}

function parsePoolRange(range: JsonObject, path: string): ConfiguredRange {
  const subnet = parseSubnet(range, `${path}.subnet`);
  const usable = usableRange(subnet);
  const end = (key: string, fallback: IpAddress): IpAddress => {
    const address = addressAt(range, key, `${path}.${key}`);
    if (address === undefined) return fallback;
    if (subnet.contains(address)) return address;
    throw new PoolConfigError(`${path}.${key}`, `${address} is not in subnet ${subnet}`);
  };
  const [start, last] = [end("rangeStart", usable.start), end("rangeEnd", usable.end)];
  if (start.value > last.value) {
    throw new PoolConfigError(`${path}.rangeStart`, `${start} is after rangeEnd ${last}`);
  }
  const span = intersect(new AddressRange(start, last), usable);
  if (span === undefined) {
    const reason = `${start}-${last} holds only the network or broadcast address of ${subnet}`;
    throw new PoolConfigError(`${path}.rangeStart`, reason);
  }
  const gateway = addressAt(range, "gateway", `${path}.gateway`) ?? usable.start;
  if (gateway.family !== subnet.family) {
    throw new PoolConfigError(`${path}.gateway`, `${gateway} is of another family than ${subnet}`);
  }
  return { subnet, span, gateway, path };
}

function parseSubnet(range: JsonObject, path: string): Prefix {
  const text = textOf(range, "subnet", path);
  if (text === undefined) throw new PoolConfigError(path, "it is missing");
  const subnet = parseAt(path, () => parsePrefix(text, { requireNetwork: true }));
  if (subnet.size >= 4n) return subnet;
  const longest = subnet.family === 4 ? 30 : 126;
  throw new PoolConfigError(
    path,
    `${subnet} is too small to allocate from; use /${longest} or larger`,
  );
}

function addressAt(object: JsonObject, key: string, path: string): IpAddress | undefined {
  const text = textOf(object, key, path);
  return text === undefined ? undefined : parseAt(path, () => parseAddress(text));
}

function intersect(a: AddressRange, b: AddressRange): AddressRange | undefined {
  if (!a.overlaps(b)) return undefined;
  const start = a.start.value > b.start.value ? a.start : b.start;
  return new AddressRange(start, a.end.value < b.end.value ? a.end : b.end);
}

function refuseOverlaps(sets: readonly (readonly ConfiguredRange[])[]): void {
  const ranges = sets.flat();
  for (const [index, range] of ranges.entries()) {
    const other = ranges.slice(0, index).find(({ span }) => span.overlaps(range.span));
    if (other === undefined) continue;
    throw new PoolConfigError(range.path, `${range.span} overlaps ${other.span} of ${other.path}`);
  }
}

function parseExcluded(value: unknown, path: string): AddressRange {
  if (typeof value === "string") return parseAt(path, () => parseRange(value));
  throw new PoolConfigError(path, `it is ${kindOf(value)} instead of an address, range or prefix`);
}

function parseStrategy(ipam: JsonObject): StrategyName {
  const name = textOf(ipam, "strategy", "ipam.strategy") ?? "sequential";
  if (isStrategyName(name)) return name;
  throw new PoolConfigError("ipam.strategy", `"${name}" is none of ${STRATEGY_NAMES.join(", ")}`);
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/**
 * `ipam.cooldown` in milliseconds: a number of seconds, or a text such as `500ms`, `30s`, `5m`.
 *
 * @throws {PoolConfigError}
 */
export function parseCooldown(value: unknown): number {
  if (value === undefined) return DEFAULT_COOLDOWN_MS;
  const [, number, unit = "s"] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(String(value)) ?? [];
  const ms = Number(number) * (UNITS[unit] ?? NaN);
  if (ms <= MAX_COOLDOWN_MS) return Math.round(ms);
  const shown = JSON.stringify(value);
  throw new PoolConfigError(
    "ipam.cooldown",
    `${shown} is no time such as 30, "500ms" or "5m", up to 24h`,
  );
}
