/** Results on their way through a chain: kept as they are, converted where versions differ. */

import { DelegateError } from "../errors.ts";
import { isJsonObject, type JsonObject } from "../../sys/json_reader.ts";
import { parsePrinted } from "../plugin_exec.ts";
import { decodeResult } from "../result_decode.ts";
import { encodeResult } from "../result_encode.ts";
import { type CniVersion, findVersion, isAtLeast } from "../version.ts";
import { type ChainElement } from "./element.ts";

/** A result and the version it is written in. */
export interface VersionedResult {
  readonly value: JsonObject;
  readonly version: CniVersion;
}

/**
 * The result in `version`. Untouched if it is written in it: a plugin's own keys go on to the
 * next plugin and to the runtime.
 */
export function resultIn(result: VersionedResult, version: CniVersion): JsonObject {
  if (result.version === version) return { ...result.value, cniVersion: version };
  const decoded = decodeResult(result.value, { version: result.version, where: "result" });
  return encodeResult(decoded, version);
}

/** `prevResult` of a configuration; `undefined` if it has none. @throws {ResultError} */
export function previousResult(
  config: JsonObject,
  version: CniVersion,
): VersionedResult | undefined {
  const { prevResult } = config;
  if (prevResult === undefined || prevResult === null) return undefined;
  decodeResult(prevResult, { version, where: "prevResult" });
  if (!isJsonObject(prevResult)) return undefined;
  const written = typeof prevResult.cniVersion === "string" ? prevResult.cniVersion : "";
  return { value: prevResult, version: findVersion(written) ?? version };
}

/**
 * The result a plugin printed, strictly: what the next plugin gets must be what the
 * specification says.
 *
 * @throws {DelegateError} naming the plugin and what is wrong.
 * @throws {ResultError} if a part of the result cannot be read.
 */
export function printedResult(element: ChainElement, stdout: string): VersionedResult {
  const { label, version } = element;
  const fail = (reason: string, remedy?: string) =>
    new DelegateError({ plugin: label, reason, remedy });
  const value = parsePrinted(label, stdout);
  if (!isJsonObject(value)) {
    throw fail(`it printed ${value === null ? "null" : "JSON that is no object"}, no result`);
  }
  if (typeof value.code === "number" && typeof value.msg === "string") {
    throw fail(`it ended with status 0 but printed an error: ${value.msg}`);
  }
  const { cniVersion } = value;
  if (cniVersion !== undefined && cniVersion !== "" && cniVersion !== version) {
    const written = JSON.stringify(cniVersion);
    throw fail(
      `its result is of CNI version ${written}, it was asked in ${version}`,
      typeof cniVersion === "string" && findVersion(cniVersion) !== undefined
        ? `Give the plugin "cniVersion": ${written}; results are converted on the way`
        : undefined,
    );
  }
  decodeResult(value, { version, where: `result of ${label}` });
  return { value, version };
}

/** Since when a plugin is given the result before it, by verb (SPEC 0.3.0 and 0.4.0). */
const SINCE = { ADD: "0.3.0", DEL: "0.4.0", CHECK: "0.4.0" } as const;

/** `prevResult` for a plugin, as a part of its configuration. */
export function previousFor(
  element: ChainElement,
  command: keyof typeof SINCE,
  previous: VersionedResult | undefined,
): JsonObject {
  if (previous === undefined || !isAtLeast(element.version, SINCE[command])) return {};
  return { prevResult: resultIn(previous, element.version) };
}
