/**
 * What a configuration says about the plugins to run: `delegate`, one plugin completed by the
 * subnet file, or `plugins`, a list run in order.
 */

import { isJsonObject, type JsonObject, JsonReader } from "../../sys/json_reader.ts";
import { type NetworkConfig } from "../network_config.ts";
import { findVersion, SUPPORTED_VERSIONS } from "../version.ts";
import { ownPart } from "./element.ts";
import { type Platform } from "./platform.ts";

/** The configuration of a chain, checked. */
export interface ChainConfig {
  /** The one plugin that is completed by the subnet file, or the list. */
  readonly kind: "delegate" | "plugins";
  /** As written. */
  readonly plugins: readonly JsonObject[];
  /** For the delegate: what its `ipam` begins with. */
  readonly ipam: JsonObject;
  readonly subnetFile: string | undefined;
}

/** What belongs to the network and is filled in by us. */
const FILLED = ["name", "prevResult"] as const;

/**
 * Reads the configuration of a chain.
 *
 * @throws {ConfigError} naming every key that is wrong.
 */
export function readChainConfig(config: NetworkConfig, platform: Platform): ChainConfig {
  const reader = new JsonReader(config.raw);
  const hasDelegate = reader.value("delegate") !== undefined;
  if (hasDelegate && reader.value("plugins") !== undefined) {
    reader.problem("delegate", "and plugins are both there; only one can say what is run");
  }
  const readers = hasDelegate
    ? [reader.object("delegate")].flatMap((one) => one ?? [])
    : reader.objects("plugins") ?? [];
  const { plugins } = config.raw;
  if (!hasDelegate && Array.isArray(plugins) && plugins.length === 0) {
    reader.problem("plugins", "is empty");
  }
  for (const element of readers) checkElement(element, { platform, isDelegate: hasDelegate });
  if (Array.isArray(plugins)) checkOwn(reader, plugins);
  const ipam = hasDelegate ? reader.object("ipam") : undefined;
  if (ipam !== undefined) checkIpam(ipam);
  const read: ChainConfig = {
    kind: hasDelegate ? "delegate" : "plugins",
    plugins: readers.map(({ raw }) => raw),
    ipam: ipam?.raw ?? {},
    subnetFile: readPath(reader, "subnetFile", platform),
  };
  readPath(reader, "dataDir", platform);
  readPath(reader, "flannelDataDir", platform);
  reader.object("runtimeConfig");
  reader.finish();
  return read;
}

function checkElement(
  reader: JsonReader,
  { platform, isDelegate }: { platform: Platform; isDelegate: boolean },
): void {
  const type = reader.string("type");
  if (type === undefined && reader.value("type") === undefined) {
    if (!isDelegate || platform.defaultDelegate === undefined) reader.problem("type", "is missing");
  } else if (type !== undefined && (type === "" || platform.naming.isPath(type))) {
    reader.problem("type", `is ${JSON.stringify(type)} instead of the name of a plugin`);
  }
  for (const key of FILLED) {
    if (reader.value(key) !== undefined) reader.problem(key, "must not be set, it is filled in");
  }
  if (isDelegate && reader.value("ipam") !== undefined) {
    reader.problem(
      "ipam",
      "must not be set, it is made of ipam beside delegate and the subnet file",
    );
  }
  const version = reader.string("cniVersion");
  if (version !== undefined && findVersion(version) === undefined) {
    const problem = `is ${JSON.stringify(version)} instead of one of ${
      SUPPORTED_VERSIONS.join(", ")
    }`;
    reader.problem("cniVersion", problem);
  }
  reader.object("capabilities");
  reader.object("runtimeConfig");
  if (ownPart(type ?? "") === undefined) return;
  if (!platform.hasNative && ownPart(type ?? "") === "network") {
    reader.problem("type", `is ${type}, whose data path is Linux`);
  }
  for (const key of ["delegate", "plugins"]) {
    if (reader.value(key) !== undefined) reader.problem(key, "is a chain inside a chain");
  }
}

/** Ours keep one record per attachment: two of them would take each other's away. */
function checkOwn(reader: JsonReader, plugins: readonly unknown[]): void {
  const own = plugins.flatMap((plugin, index) => {
    const type = isJsonObject(plugin) && typeof plugin.type === "string" ? plugin.type : "";
    return ownPart(type) === undefined ? [] : [{ type, index }];
  });
  const [first, ...others] = own;
  for (const { type, index } of others) {
    reader.problem(
      `plugins[${index}].type`,
      `is ${type}, but plugins[${first?.index}] is ${first?.type} already`,
    );
  }
}

function checkIpam(ipam: JsonReader): void {
  ipam.string("type");
  for (const [index, route] of (ipam.list("routes") ?? []).entries()) {
    if (!isJsonObject(route)) ipam.problem(`routes[${index}]`, "is no object");
  }
}

function readPath(reader: JsonReader, key: string, platform: Platform): string | undefined {
  const path = reader.string(key);
  if (path === undefined || path === "") return undefined;
  if (!platform.isAbsolute(path) || path.includes("\0")) {
    reader.problem(key, `is ${JSON.stringify(path)} instead of an absolute path`);
  }
  return path;
}
