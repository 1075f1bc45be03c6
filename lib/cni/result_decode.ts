/** Results as other plugins and older runtimes write them, read into the newest form. */

import { isJsonObject, type JsonObject } from "../sys/json_reader.ts";
import {
  type CniResult,
  defined,
  EMPTY_RESULT,
  type ResultDns,
  type ResultInterface,
  type ResultIp,
  ResultReader,
  type ResultRoute,
} from "./result.ts";
import { type CniVersion, findVersion, isAtLeast } from "./version.ts";

/** Options of {@linkcode decodeResult}. */
export interface DecodeResultOptions {
  /** Taken when the result names no version of its own. */
  readonly version: CniVersion;
  /** How errors call it. @default {"result"} */
  readonly where?: string;
}

/**
 * Reads a result of any version; `null` is an empty one, as the Go library has it.
 *
 * @throws {ResultError} naming what cannot be read.
 */
export function decodeResult(value: unknown, options: DecodeResultOptions): CniResult {
  const reader = new ResultReader(options.where ?? "result");
  if (value === null) return EMPTY_RESULT;
  if (!isJsonObject(value)) throw reader.error("it is no object");
  const written = reader.optionalText(value, "cniVersion");
  const version = written === undefined ? options.version : findVersion(written);
  if (version === undefined) throw reader.error(`its cniVersion ${written} is not known`);
  return isAtLeast(version, "0.3.0") ? decodeRich(value, reader) : decodeOld(value, reader);
}

/** 0.3.0 and later: one shape. `version` of an address (until 0.4.0) says nothing new. */
function decodeRich(value: JsonObject, reader: ResultReader): CniResult {
  const interfaces = reader.objects(value.interfaces, "interfaces").map((object) =>
    decodeInterface(object, reader)
  );
  const ips = reader.objects(value.ips, "ips").map((object) => decodeIp(object, reader));
  for (const { address, interface: index } of ips) {
    if (index !== undefined && (index < 0 || index >= interfaces.length)) {
      throw reader.error(
        `ips: ${address} is on interface ${index}, there are ${interfaces.length}`,
      );
    }
  }
  const routes = reader.objects(value.routes, "routes").map((object) =>
    decodeRoute(object, reader)
  );
  return { interfaces, ips, routes, dns: decodeDns(value.dns, reader) };
}

/** 0.1.0 and 0.2.0: one address per family, routes below it, no interfaces. */
function decodeOld(value: JsonObject, reader: ResultReader): CniResult {
  const ips: ResultIp[] = [];
  const routes: ResultRoute[] = [];
  for (const key of ["ip4", "ip6"]) {
    const family = value[key];
    if (family === undefined || family === null) continue;
    if (!isJsonObject(family)) throw reader.error(`${key} is no object`);
    const address = reader.text(family, "ip");
    ips.push(defined({ address, gateway: reader.optionalText(family, "gateway") }));
    routes.push(
      ...reader.objects(family.routes, "routes").map((object) => decodeRoute(object, reader)),
    );
  }
  return { interfaces: [], ips, routes, dns: decodeDns(value.dns, reader) };
}

function decodeInterface(object: JsonObject, reader: ResultReader): ResultInterface {
  return defined({
    name: reader.text(object, "name"),
    mac: reader.optionalText(object, "mac"),
    mtu: reader.optionalNumber(object, "mtu"),
    sandbox: reader.optionalText(object, "sandbox"),
    socketPath: reader.optionalText(object, "socketPath"),
    pciID: reader.optionalText(object, "pciID"),
  });
}

function decodeIp(object: JsonObject, reader: ResultReader): ResultIp {
  return defined({
    address: reader.text(object, "address"),
    gateway: reader.optionalText(object, "gateway"),
    interface: reader.optionalNumber(object, "interface"),
  });
}

/** Reads a route, of a result or of a configuration. */
export function decodeRoute(object: JsonObject, reader: ResultReader): ResultRoute {
  return defined({
    dst: reader.text(object, "dst"),
    gw: reader.optionalText(object, "gw"),
    mtu: reader.optionalNumber(object, "mtu"),
    advmss: reader.optionalNumber(object, "advmss"),
    priority: reader.optionalNumber(object, "priority"),
    table: reader.optionalNumber(object, "table"),
    scope: reader.optionalNumber(object, "scope"),
  });
}

/** Reads a `dns` object, of a result or of a configuration. */
export function decodeDns(value: unknown, reader: ResultReader): ResultDns {
  if (value === undefined || value === null) return {};
  if (!isJsonObject(value)) throw reader.error("dns is no object");
  const list = (key: string) => {
    const texts = reader.texts(value, key);
    return texts.length === 0 ? undefined : texts;
  };
  return defined({
    nameservers: list("nameservers"),
    domain: reader.optionalText(value, "domain"),
    search: list("search"),
    options: list("options"),
  });
}
