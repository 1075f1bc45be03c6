/** The part of a network configuration every plugin has (SPEC, "Plugin configuration objects"). */

import { isIdentifier } from "./environment.ts";
import { ConfigError } from "../sys/config_error.ts";
import { DecodeError } from "./errors.ts";
import { isJsonObject, type JsonObject } from "../sys/json_reader.ts";
import { OLDEST_VERSION } from "./version.ts";

/** A decoded configuration whose name has been checked; the rest is for the verb to read. */
export interface NetworkConfig {
  /** As the caller wrote it; not yet compared with what we speak. */
  readonly cniVersion: string;
  readonly name: string;
  /** Everything, this plugin's own keys included. */
  readonly raw: JsonObject;
}

/**
 * Decodes what came on standard input.
 *
 * @throws {DecodeError} if it is no JSON object.
 * @throws {ConfigError} if the network has no proper name.
 */
export function decodeNetworkConfig(text: string): NetworkConfig {
  const raw = decodeObject(text);
  const { cniVersion, name } = raw;
  if (cniVersion !== undefined && cniVersion !== null && typeof cniVersion !== "string") {
    throw new DecodeError({
      operation: "decode network configuration",
      reason: `cniVersion is ${JSON.stringify(cniVersion)} instead of a text`,
    });
  }
  if (name === undefined || name === null || name === "") {
    throw new ConfigError([{ key: "name", problem: "is missing" }]);
  }
  if (typeof name !== "string" || !isIdentifier(name)) {
    const problem = `is ${JSON.stringify(name)} instead of a letter or digit followed by ` +
      "letters, digits, _, . or -";
    throw new ConfigError([{ key: "name", problem }]);
  }
  return { cniVersion: cniVersion || OLDEST_VERSION, name, raw };
}

function decodeObject(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const reason = text.trim() === "" ? "standard input is empty" : "it is no JSON";
    throw new DecodeError({ operation: "decode network configuration", reason, cause });
  }
  if (isJsonObject(value)) return value;
  throw new DecodeError({
    operation: "decode network configuration",
    reason: "it is JSON, but no object",
  });
}
