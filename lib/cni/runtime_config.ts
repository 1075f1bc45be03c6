/**
 * What the runtime passes for one container by `runtimeConfig` (CONVENTIONS.md of the CNI
 * project). Keys are compared without case: containerd writes `HostPort`, others `hostPort`.
 */

import { type IpAddress, parseAddress } from "../ip/address.ts";
import { parsePrefix, Prefix } from "../ip/prefix.ts";
import { readHardwareAddress } from "./hardware_address.ts";
import { type JsonReader } from "../sys/json_reader.ts";
import { type ResultDns } from "./result.ts";

/** A port of the node that leads into the container. */
export interface PortMapping {
  readonly hostPort: number;
  readonly containerPort: number;
  readonly protocol: "tcp" | "udp" | "sctp";
  /** On this address of the node; unspecified means all of its family, `undefined` all. */
  readonly hostIp: IpAddress | undefined;
}

/** Limits in bits per second, bursts in bits; zero is no limit. */
export interface Bandwidth {
  readonly ingressRate: number;
  readonly ingressBurst: number;
  readonly egressRate: number;
  readonly egressBurst: number;
}

/** Per-container wishes. */
export interface RuntimeConfig {
  readonly portMappings: readonly PortMapping[];
  readonly bandwidth: Bandwidth | undefined;
  /** Addresses the container should have. */
  readonly ips: readonly Prefix[];
  /** Of `runtimeConfig`, else of `args.cni`, which older runtimes use. */
  readonly mac: string | undefined;
  /** Name servers; stronger than the configuration's. */
  readonly dns: ResultDns | undefined;
}

const PORTS = { min: 1, max: 65_535 };

/** Reads `runtimeConfig`; problems go to `reader`. */
export function readRuntimeConfig(reader: JsonReader): RuntimeConfig {
  const runtime = reader.object("runtimeConfig", { ignoreCase: true });
  return {
    portMappings: runtime?.objects("portMappings")?.flatMap(readPortMapping) ?? [],
    bandwidth: readBandwidth(runtime?.object("bandwidth") ?? reader.object("bandwidth")),
    ips:
      runtime?.strings("ips")?.flatMap((text, index) =>
        runtime.attempt(`ips[${index}]`, () => parseWithOptionalLength(text)) ?? []
      ) ?? [],
    mac: runtime?.parsed("mac", readHardwareAddress) ??
      reader.object("args")?.object("cni")?.parsed("mac", readHardwareAddress),
    dns: readDns(runtime?.object("dns")),
  };
}

function readPortMapping(reader: JsonReader): PortMapping[] {
  // Kubernetes lists every containerPort; only those with a hostPort are mappings.
  if (reader.value("hostPort") === 0 || reader.value("hostPort") === undefined) return [];
  const hostPort = reader.integer("hostPort", PORTS);
  const containerPort = reader.integer("containerPort", PORTS);
  const protocol = readProtocol(reader);
  const hostIp = reader.parsed("hostIP", (text) => text === "" ? undefined : parseAddress(text));
  if (hostPort === undefined || protocol === undefined) return [];
  if (containerPort === undefined) {
    reader.problem("containerPort", "is missing");
    return [];
  }
  return [{ hostPort, containerPort, protocol, hostIp }];
}

function readProtocol(reader: JsonReader): PortMapping["protocol"] | undefined {
  const text = reader.string("protocol") ?? "tcp";
  const protocol = text.toLowerCase();
  if (protocol === "tcp" || protocol === "udp" || protocol === "sctp") return protocol;
  if (protocol === "") return "tcp";
  reader.problem("protocol", `is ${JSON.stringify(text)} instead of one of tcp, udp, sctp`);
  return undefined;
}

/** A rate needs a burst, and a burst a rate; the kernel counts bursts in 32 bits of bytes. */
function readBandwidth(reader: JsonReader | undefined): Bandwidth | undefined {
  if (reader === undefined) return undefined;
  const amount = (key: string, max: number) => reader.integer(key, { min: 0, max }) ?? 0;
  const bandwidth: Bandwidth = {
    ingressRate: amount("ingressRate", Number.MAX_SAFE_INTEGER),
    ingressBurst: amount("ingressBurst", 8 * (2 ** 32 - 1)),
    egressRate: amount("egressRate", Number.MAX_SAFE_INTEGER),
    egressBurst: amount("egressBurst", 8 * (2 ** 32 - 1)),
  };
  for (const way of ["ingress", "egress"] as const) {
    const [rate, burst] = [bandwidth[`${way}Rate`], bandwidth[`${way}Burst`]];
    if (rate > 0 && rate < 8) reader.problem(`${way}Rate`, `is ${rate}, less than a byte a second`);
    if (rate > 0 && burst === 0) reader.problem(`${way}Burst`, `is missing, ${way}Rate is ${rate}`);
    if (rate === 0 && burst > 0) {
      reader.problem(`${way}Rate`, `is missing, ${way}Burst is ${burst}`);
    }
  }
  return bandwidth.ingressRate > 0 || bandwidth.egressRate > 0 ? bandwidth : undefined;
}

function parseWithOptionalLength(text: string): Prefix {
  if (text.includes("/")) return parsePrefix(text);
  const address = parseAddress(text);
  return new Prefix(address, address.bits);
}

function readDns(reader: JsonReader | undefined): ResultDns | undefined {
  if (reader === undefined) return undefined;
  const [nameservers, search, options] = ["servers", "searches", "options"]
    .map((key) => reader.strings(key));
  return {
    ...(nameservers?.length ? { nameservers } : {}),
    ...(search?.length ? { search } : {}),
    ...(options?.length ? { options } : {}),
  };
}
