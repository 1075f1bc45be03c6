/** The part of a network configuration that is about addresses. */

import { type IpAddress, parseAddress } from "../ip/address.ts";
import { parsePrefix } from "../ip/prefix.ts";
import {
  isObject,
  type JsonObject,
  kindOf,
  listOf,
  objectOf,
  parseAt,
  textOf,
  valueOf,
} from "../ipam/config_value.ts";
import { PoolConfigError } from "../ipam/errors.ts";
import { parseCooldown, parsePoolConfig, type PoolConfig } from "../ipam/pool_config.ts";
import { dataDirectory } from "../store/location.ts";
import { type CniArgs } from "./cni_args.ts";
import { ResultReader, type ResultRoute } from "./result.ts";
import { decodeRoute } from "./result_decode.ts";
import { type CniVersion, isAtLeast } from "./version.ts";

/** What ADD needs. */
export interface IpamConfig extends PoolConfig {
  /** Addresses the caller asks for. */
  readonly requested: readonly IpAddress[];
  readonly routes: readonly ResultRoute[];
  /** Path of a file in the form of resolv.conf(5). */
  readonly resolvConf: string | undefined;
}

/** The object `ipam`; empty if there is none. @throws {PoolConfigError} */
function ipamObject(config: JsonObject): JsonObject {
  return objectOf(config, "ipam") ?? {};
}

/** Where the store is: `ipam.dataDir`, `dataDir`, the environment, the default. */
export function configuredDirectory(
  config: JsonObject,
  env: (name: string) => string | undefined,
): string {
  const configured = textOf(ipamObject(config), "dataDir", "ipam.dataDir") ??
    textOf(config, "dataDir");
  return dataDirectory(configured, env);
}

/** Where the configuration comes from. */
export interface IpamSource {
  readonly config: JsonObject;
  readonly version: CniVersion;
  /** `CNI_ARGS`. */
  readonly args: CniArgs;
}

/** Reads and checks all of it. @throws {PoolConfigError} naming the key. */
export function readIpamConfig(source: IpamSource): IpamConfig {
  const ipam = ipamObject(source.config);
  const runtime = objectOf(source.config, "runtimeConfig") ?? {};
  const pools = parsePoolConfig(ipam, valueOf(runtime, "ipRanges"));
  refuseManyPerFamily(pools, source.version);
  return {
    ...pools,
    requested: requestedAddresses(source, runtime),
    routes: listOf(ipam, "routes", "ipam.routes").map(parseRoute),
    resolvConf: textOf(ipam, "resolvConf", "ipam.resolvConf"),
  };
}

/**
 * How long released addresses rest, for verbs that must not fail because the pools of the
 * network were edited since.
 */
export function readCooldownMs(config: JsonObject): number {
  const ipam = valueOf(config, "ipam");
  try {
    return parseCooldown(isObject(ipam) ? valueOf(ipam, "cooldown") : undefined);
  } catch (error) {
    if (error instanceof PoolConfigError) return parseCooldown(undefined);
    throw error;
  }
}

/** Before 0.3.0 a result has room for one address per family. */
function refuseManyPerFamily(pools: PoolConfig, version: CniVersion): void {
  if (isAtLeast(version, "0.3.0")) return;
  for (const family of [4, 6]) {
    if (pools.sets.filter((set) => set.family === family).length <= 1) continue;
    const reason = `CNI version ${version} has room for one IPv${family} address; ` +
      "give one range set, or cniVersion 0.3.0 or newer";
    throw new PoolConfigError("ipam.ranges", reason);
  }
}

/** `CNI_ARGS`, `args.cni.ips` and `runtimeConfig.ips`, added together as host-local does. */
function requestedAddresses(source: IpamSource, runtime: JsonObject): IpAddress[] {
  const fromArgs = (source.args.get("IP") ?? "").split(",")
    .filter((text) => text !== "");
  const args = objectOf(source.config, "args") ?? {};
  const cni = objectOf(args, "cni", "args.cni") ?? {};
  return [
    ...fromArgs.map((text) => parseRequested(text, "CNI_ARGS IP")),
    ...listOf(cni, "ips", "args.cni.ips").map((value, index) =>
      parseRequested(value, `args.cni.ips[${index}]`)
    ),
    ...listOf(runtime, "ips", "runtimeConfig.ips").map((value, index) =>
      parseRequested(value, `runtimeConfig.ips[${index}]`)
    ),
  ];
}

/** An address; a prefix length after it is not looked at. */
function parseRequested(value: unknown, path: string): IpAddress {
  if (typeof value !== "string") {
    throw new PoolConfigError(path, `it is ${kindOf(value)} instead of an address`);
  }
  return parseAt(path, () => parseAddress(value.replace(/\/.*$/, "")));
}

/** Checked here, where the key can be named; host bits of `dst` are passed on. */
function parseRoute(value: unknown, index: number): ResultRoute {
  const path = `ipam.routes[${index}]`;
  if (!isObject(value)) {
    throw new PoolConfigError(path, `it is ${kindOf(value)} instead of a route`);
  }
  if (valueOf(value, "dst") === undefined) {
    throw new PoolConfigError(`${path}.dst`, "it is missing");
  }
  const route = parseAt(path, () => decodeRoute(value, new ResultReader("route")));
  const prefix = parseAt(`${path}.dst`, () => parsePrefix(route.dst));
  const { gw } = route;
  if (gw === undefined) return route;
  const gateway = parseAt(`${path}.gw`, () => parseAddress(gw));
  if (gateway.family === prefix.family) return route;
  throw new PoolConfigError(`${path}.gw`, `${gw} is of another family than ${route.dst}`);
}
