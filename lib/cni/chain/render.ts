/** From the configuration of a chain to the configuration of each of its plugins. */

import { isJsonObject, type JsonObject } from "../../sys/json_reader.ts";
import { type NetworkConfig } from "../network_config.ts";
import { type CniVersion, findVersion } from "../version.ts";
import { type ChainConfig } from "./chain_config.ts";
import { completeDelegate } from "./delegate_config.ts";
import { type ChainElement, ownPart } from "./element.ts";
import { type Platform } from "./platform.ts";
import { type Subnet } from "./subnet_file.ts";

/** What the plugins are rendered from. */
export interface RenderParts {
  readonly network: NetworkConfig;
  readonly version: CniVersion;
  readonly platform: Platform;
  /** Asked only for a delegate. */
  readonly subnet: () => Subnet;
}

/** The plugins of a chain in the order of ADD. @throws {SubnetFileError} */
export function renderElements(config: ChainConfig, parts: RenderParts): ChainElement[] {
  return config.plugins.map((written, position) => {
    const isDelegate = config.kind === "delegate";
    const plugin = isDelegate ? delegateOf(config, written, parts) : written;
    const type = typeof plugin.type === "string" ? plugin.type : "";
    const version = versionOf(plugin, parts.version);
    return {
      position,
      type,
      label: `${type} (${isDelegate ? "delegate" : `plugins[${position}]`})`,
      version,
      config: fill(plugin, { ...parts, version, isDelegate, type }),
    };
  });
}

function delegateOf(config: ChainConfig, written: JsonObject, parts: RenderParts): JsonObject {
  const { platform, network } = parts;
  const dataDir = textOf(network.raw.dataDir);
  return completeDelegate(written, {
    platform,
    subnet: parts.subnet(),
    ipam: config.ipam,
    dataDir,
  });
}

/** A plugin may be spoken to in a version of its own; results are converted on the way. */
function versionOf(plugin: JsonObject, version: CniVersion): CniVersion {
  return findVersion(textOf(plugin.cniVersion) ?? "") ?? version;
}

/** What a runtime puts into the configuration of each plugin (SPEC, "Deriving execution configuration"). */
function fill(
  plugin: JsonObject,
  facts: RenderParts & { type: string; isDelegate: boolean },
): JsonObject {
  const { network, version, type, isDelegate } = facts;
  const { capabilities, ...rest } = plugin;
  const { dataDir, args } = network.raw;
  const runtimeConfig = runtimeConfigOf(plugin, {
    given: network.raw.runtimeConfig,
    // The one delegate stands for us, so what was meant for us is meant for it.
    isWanted: (key) => isDelegate || isJsonObject(capabilities) && capabilities[key] === true,
  });
  return {
    ...(ownPart(type) !== undefined && textOf(dataDir) !== undefined ? { dataDir } : {}),
    ...(isJsonObject(args) ? { args } : {}),
    ...rest,
    cniVersion: version,
    name: network.name,
    ...(Object.keys(runtimeConfig).length === 0 ? {} : { runtimeConfig }),
  };
}

function runtimeConfigOf(
  plugin: JsonObject,
  { given, isWanted }: { given: unknown; isWanted: (key: string) => boolean },
): JsonObject {
  const own = isJsonObject(plugin.runtimeConfig) ? plugin.runtimeConfig : {};
  const passed = Object.entries(isJsonObject(given) ? given : {}).filter(([key]) => isWanted(key));
  return { ...own, ...Object.fromEntries(passed) };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
