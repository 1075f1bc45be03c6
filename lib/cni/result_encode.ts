/** Results said in the version the caller asked for (study of SPEC 0.1.0 to 1.1.0). */

import { ResultError } from "./errors.ts";
import { type JsonObject } from "../sys/json_reader.ts";
import { type CniResult, defined, type ResultIp, type ResultRoute } from "./result.ts";
import { type CniVersion, isAtLeast } from "./version.ts";

/**
 * `result` as `version` writes it.
 *
 * @throws {ResultError} if the version cannot say it: before 0.3.0 an address is needed.
 */
export function encodeResult(result: CniResult, version: CniVersion): JsonObject {
  if (isAtLeast(version, "1.0.0")) return encodeNew(result, version);
  return isAtLeast(version, "0.3.0") ? encodeRich(result, version) : encodeOld(result, version);
}

/** 1.0.0 and 1.1.0; an empty `dns` is left out. */
function encodeNew(result: CniResult, cniVersion: CniVersion): JsonObject {
  const { interfaces, ips, routes, dns } = result;
  return defined({
    cniVersion,
    interfaces: interfaces.length === 0 ? undefined : interfaces,
    ips: ips.length === 0 ? undefined : ips,
    routes: routes.length === 0 ? undefined : routes,
    dns: Object.keys(dns).length === 0 ? undefined : dns,
  });
}

/** 0.3.0 to 0.4.0: addresses carry their family, interfaces know less, `dns` is always there. */
function encodeRich(result: CniResult, cniVersion: CniVersion): JsonObject {
  const { interfaces, ips, routes, dns } = result;
  return defined({
    cniVersion,
    interfaces: interfaces.length === 0
      ? undefined
      : interfaces.map(({ name, mac, sandbox }) => defined({ name, mac, sandbox })),
    ips: ips.length === 0 ? undefined : ips.map((ip) => ({ version: familyOf(ip.address), ...ip })),
    routes: routes.length === 0 ? undefined : routes,
    dns,
  });
}

/** 0.1.0 and 0.2.0: the first address of each family, with the routes of that family. */
function encodeOld(result: CniResult, cniVersion: CniVersion): JsonObject {
  const { ips, routes, dns } = result;
  const of = (family: "4" | "6"): JsonObject | undefined => {
    const ip = ips.find(({ address }) => familyOf(address) === family);
    return ip === undefined ? undefined : oldFamily(
      ip,
      routes.filter(({ dst }) => familyOf(dst) === family),
    );
  };
  const [ip4, ip6] = [of("4"), of("6")];
  if (ip4 === undefined && ip6 === undefined) {
    throw new ResultError({
      operation: "convert result",
      subject: `to CNI version ${cniVersion}`,
      reason: "it has no address",
    });
  }
  return defined({ cniVersion, ip4, ip6, dns });
}

function oldFamily({ address, gateway }: ResultIp, routes: readonly ResultRoute[]): JsonObject {
  return defined({
    ip: address,
    gateway,
    routes: routes.length === 0 ? undefined : routes.map(({ dst, gw }) => defined({ dst, gw })),
  });
}

/** Only IPv6 is written with colons. */
function familyOf(address: string): "4" | "6" {
  return address.includes(":") ? "6" : "4";
}
