/**
 * This plugin's own configuration: what a conflist may say to `type: headcni`.
 *
 * Keys of other plugins pass in silence, because conflists carry them; a known key of the
 * wrong type or value is an error, and all of them are told at once.
 */

import { parsePrefix, type Prefix } from "../ip/prefix.ts";
import { isJsonObject, type JsonObject, JsonReader } from "../sys/json_reader.ts";
import { readMagicDns } from "./magic_dns.ts";
import { type NetworkConfig } from "./network_config.ts";
import { type ResultDns } from "./result.ts";
import { readRuntimeConfig, type RuntimeConfig } from "./runtime_config.ts";

/** Whose tunnel the node uses: the machine's own tailscaled, or one the daemon supervises. */
export type Mode = "host" | "daemon";

/** The configuration, checked; absent keys have their defaults. */
export interface PluginConfig {
  readonly mode: Mode;
  readonly podCidrs: readonly Prefix[];
  readonly serviceCidrs: readonly Prefix[];
  /** As written, or made from `pod_cidr`; `undefined` when this plugin has no addresses to give. */
  readonly ipam: JsonObject & { readonly type: string } | undefined;
  /** Bytes; `undefined` means: as the tunnel has it. */
  readonly mtu: number | undefined;
  readonly ipMasq: boolean;
  readonly antiSpoof: boolean;
  /** For the daemon, which enforces policies; the plugin itself enforces none. */
  readonly networkPolicy: boolean;
  readonly dns: ResultDns | undefined;
  readonly runtime: RuntimeConfig;
}

/** The kernel's smallest for IPv4 (RFC 791) and the largest a veth takes. */
const MTU_LIMITS = { min: 68, max: 65_535 };

/** IPv6 does not work below (RFC 8200, section 5). */
const IPV6_MIN_MTU = 1280;

/** The names of our IPAM in `ipam.type`. */
const OWN_IPAM_TYPES: readonly string[] = ["headcni-ipam", "headcni"];

/** Whether `ipam.type` names the IPAM of this program; the plugin's own name means the same. */
export function isOwnIpam(type: string): boolean {
  return OWN_IPAM_TYPES.includes(type);
}

/**
 * Reads the plugin's configuration.
 *
 * @throws {ConfigError} naming every key that is wrong.
 */
export function readPluginConfig(config: NetworkConfig): PluginConfig {
  const reader = new JsonReader(config.raw);
  const podCidrs = readPrefixes(reader, "pod_cidr");
  const serviceCidrs = readPrefixes(reader, "service_cidr");
  checkOverlap(reader, podCidrs, serviceCidrs);
  checkOthers(reader);
  const mtu = reader.integer("mtu", { ...MTU_LIMITS, min: 0 });
  checkMtu(reader, mtu, podCidrs);
  const read: PluginConfig = {
    mode: reader.choice("mode", ["host", "daemon"]) ?? "host",
    podCidrs,
    serviceCidrs,
    ipam: readIpam(reader, podCidrs),
    mtu: mtu === 0 ? undefined : mtu,
    ipMasq: reader.boolean("ipMasq") ?? true,
    antiSpoof: reader.boolean("antiSpoof") ?? true,
    networkPolicy: reader.boolean("enable_network_policy") ?? false,
    dns: readMagicDns(reader),
    runtime: readRuntimeConfig(reader),
  };
  reader.finish();
  return read;
}

/** One prefix, or two of different families with a comma, as Kubernetes writes dual-stack. */
function readPrefixes(reader: JsonReader, key: string): readonly Prefix[] {
  const text = reader.string(key);
  if (text === undefined || text === "") return [];
  const prefixes = text.split(",").flatMap((part) =>
    reader.attempt(key, () => parsePrefix(part.trim(), { requireNetwork: true })) ?? []
  );
  if (prefixes.length > 2 || prefixes.length === 2 && prefixes[0]?.family === prefixes[1]?.family) {
    reader.problem(key, "has more than one prefix of a family");
  }
  return prefixes;
}

function checkOverlap(
  reader: JsonReader,
  pods: readonly Prefix[],
  services: readonly Prefix[],
): void {
  for (const pod of pods) {
    const service = services.find((candidate) => candidate.overlaps(pod));
    if (service !== undefined) {
      reader.problem("service_cidr", `${service} overlaps pod_cidr ${pod}`);
    }
  }
}

/**
 * Keys that others read, and that are checked here all the same: the daemon and the doctor, what is
 * told after the answer (`afterwards.ts`), what opens the store (`store_options.ts`).
 */
function checkOthers(reader: JsonReader): void {
  reader.parsed("headscale_url", (text) => {
    const { protocol } = new URL(text);
    if (protocol !== "https:" && protocol !== "http:") {
      throw new TypeError(`Cannot use ${protocol} for Headscale: it speaks http and https`);
    }
  });
  for (const key of ["tailscale_socket", "daemonSocket", "logFile", "dataDir"]) {
    readPath(reader, key);
  }
  reader.choice("logLevel", ["debug", "info", "warn", "error", "fatal"]);
}

function checkMtu(reader: JsonReader, mtu: number | undefined, pods: readonly Prefix[]): void {
  if (mtu === undefined || mtu === 0) return;
  if (mtu < MTU_LIMITS.min) reader.problem("mtu", `is ${mtu}, below ${MTU_LIMITS.min}`);
  const isIpv6 = pods.some(({ family }) => family === 6) || reader.value("enable_ipv6") === true;
  if (isIpv6 && mtu < IPV6_MIN_MTU) {
    reader.problem("mtu", `is ${mtu}, but IPv6 needs ${IPV6_MIN_MTU}`);
  }
}

function readIpam(reader: JsonReader, pods: readonly Prefix[]): PluginConfig["ipam"] {
  const wantsIpv6 = reader.boolean("enable_ipv6");
  const written = reader.value("ipam");
  if (written !== undefined && !(isJsonObject(written) && Object.keys(written).length === 0)) {
    const type = reader.object("ipam")?.string("type");
    if (!isJsonObject(written)) return undefined; // the reader has told so
    if (type === undefined || type === "") reader.problem("ipam.type", "is missing");
    return { ...written, type: type ?? "" };
  }
  const used = pods.filter(({ family }) => family === 4 || wantsIpv6 !== false);
  if (wantsIpv6 === true && !used.some(({ family }) => family === 6)) {
    reader.problem("enable_ipv6", "is true, but pod_cidr has no IPv6 prefix");
  }
  if (used.length === 0) return undefined;
  const ranges = used.map((prefix) => [{ subnet: prefix.toString() }]);
  const routes = used.map(({ family }) => ({ dst: family === 4 ? "0.0.0.0/0" : "::/0" }));
  return { type: "headcni-ipam", ranges, routes };
}

function readPath(reader: JsonReader, key: string): string | undefined {
  const path = reader.string(key);
  if (path === undefined || path === "") return undefined;
  if (!path.startsWith("/") || path.includes("\0")) {
    reader.problem(key, `is ${JSON.stringify(path)} instead of an absolute path`);
  }
  return path;
}
