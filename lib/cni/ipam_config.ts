/** The part of a network configuration that is about addresses. */

import { type IpAddress, parseAddress } from "../ip/address.ts";
import { parsePrefix } from "../ip/prefix.ts";
import { parseCooldown, type PoolConfig, readPoolConfig } from "../ipam/pool_config.ts";
import { dataDirectory } from "../store/location.ts";
import { type JsonObject, JsonReader } from "../sys/json_reader.ts";
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

/**
 * Keys match in any case, as they do for plugins in Go: containerd sends the objects of
 * `runtimeConfig` with capital letters (`Subnet`, `RangeStart`), CRI-O and podman without.
 */
function readerOf(config: JsonObject): JsonReader {
  return new JsonReader(config, { ignoreCase: true });
}

/** Where the store is: `ipam.dataDir`, `dataDir`, the environment, the default. */
export function configuredDirectory(
  config: JsonObject,
  env: (name: string) => string | undefined,
): string {
  const reader = readerOf(config);
  const configured = reader.object("ipam")?.string("dataDir") || reader.string("dataDir");
  reader.finish();
  return dataDirectory(configured, env);
}

/** Where the configuration comes from. */
export interface IpamSource {
  readonly config: JsonObject;
  readonly version: CniVersion;
  /** `CNI_ARGS`. */
  readonly args: CniArgs;
}

/** Reads and checks all of it. @throws {ConfigError} naming every key that is wrong. */
export function readIpamConfig(source: IpamSource): IpamConfig {
  const reader = readerOf(source.config);
  const ipam = reader.object("ipam");
  const pools = readPoolConfig(reader);
  tellManyPerFamily(reader, pools, source.version);
  const read = {
    ...pools,
    requested: readRequested(reader, source.args),
    routes: (ipam?.objects("routes") ?? []).flatMap((route) => readRoute(route) ?? []),
    resolvConf: ipam?.string("resolvConf") || undefined,
  };
  reader.finish();
  return read;
}

/**
 * How long released addresses rest, for verbs that must not fail because the pools of the
 * network were edited since.
 */
export function readCooldownMs(config: JsonObject): number {
  const ipam = readerOf(config).object("ipam");
  try {
    return parseCooldown(ipam?.value("cooldown"));
  } catch (error) {
    if (error instanceof TypeError) return parseCooldown(undefined);
    throw error;
  }
}

/** Before 0.3.0 a result has room for one address per family. */
function tellManyPerFamily(reader: JsonReader, pools: PoolConfig, version: CniVersion): void {
  if (isAtLeast(version, "0.3.0")) return;
  for (const family of [4, 6]) {
    if (pools.sets.filter((set) => set.family === family).length <= 1) continue;
    const room = `CNI version ${version} has room for one IPv${family} address`;
    reader.problem(
      "ipam.ranges",
      `has too many sets: ${room}; give one range set, or cniVersion 0.3.0 or newer`,
    );
  }
}

/** `CNI_ARGS`, `args.cni.ips` and `runtimeConfig.ips`, added together as host-local does. */
function readRequested(reader: JsonReader, args: CniArgs): IpAddress[] {
  const fromArgs = (args.get("IP") ?? "").split(",").filter((text) => text !== "");
  const places = [reader.object("args")?.object("cni"), reader.object("runtimeConfig")];
  return [
    ...fromArgs.flatMap((text) => reader.attempt("CNI_ARGS IP", () => parseRequested(text)) ?? []),
    ...places.flatMap((place) =>
      (place?.strings("ips") ?? []).flatMap((text, index) =>
        place?.attempt(`ips[${index}]`, () => parseRequested(text)) ?? []
      )
    ),
  ];
}

/** An address; a prefix length after it is not looked at. */
function parseRequested(text: string): IpAddress {
  return parseAddress(text.replace(/\/.*$/, ""));
}

/** Checked here, where the key can be named; host bits of `dst` are passed on. */
function readRoute(reader: JsonReader): ResultRoute | undefined {
  if (reader.value("dst") === undefined) {
    reader.problem("dst", "is missing");
    return undefined;
  }
  const route = reader.attempt("", () => decodeRoute(reader.raw, new ResultReader("route")));
  if (route === undefined) return undefined;
  const { dst, gw } = route;
  const prefix = reader.attempt("dst", () => parsePrefix(dst));
  const gateway = gw === undefined ? undefined : reader.attempt("gw", () => parseAddress(gw));
  if (gateway !== undefined && prefix !== undefined && gateway.family !== prefix.family) {
    reader.problem("gw", `is ${gw}, which is of another family than ${dst}`);
  }
  return route;
}
