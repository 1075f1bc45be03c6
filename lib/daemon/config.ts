/**
 * The node's configuration file, `/etc/headcni/config.yaml`.
 *
 * All that is wrong is told at once, each problem with its key; a key nobody knows is wrong, too:
 * it is a typing error, and what it was meant to say is not done.
 */

import { parse as parseYaml } from "@std/yaml";
import { isJsonObject, JsonReader } from "../sys/json_reader.ts";
import { parseServerUrl, refusedPrefixes } from "../headscale/mod.ts";
import { parsePrefix, type Prefix } from "../ip/mod.ts";
import { HeadcniError } from "../sys/errors.ts";
import { type LogFormat, parseLevel, parseLogFormat } from "../sys/log.ts";
import type { Level } from "../sys/log_record.ts";
import { DEFAULT_SOCKET, redactKeys } from "../tailscale/mod.ts";
import type { IsolationKind, Mode } from "./tailnet/desired.ts";

/** Where the configuration is, unless told otherwise. */
export const DEFAULT_CONFIG_PATH = "/etc/headcni/config.yaml";

/** A configuration that cannot be used. */
export class NodeConfigError extends HeadcniError {
  override readonly name = "NodeConfigError";
}

/** The configuration, complete. */
export interface NodeConfig {
  readonly headscale: {
    readonly url: string;
    readonly apiKeyFile: string | undefined;
    readonly caFile: string | undefined;
    readonly user: string;
    readonly tags: readonly string[];
    /** Whether the policy is added to, if it is in Headscale's database. */
    readonly policy: "leave" | "merge";
  };
  readonly tailscale: {
    readonly mode: Mode;
    readonly isolation: IsolationKind;
    readonly tun: string;
    readonly socket: string;
    readonly binary: string | undefined;
    readonly stateDir: string;
    readonly port: number;
    readonly hostname: string | undefined;
    readonly environment: Readonly<Record<string, string>>;
  };
  readonly network: {
    readonly podCIDR: {
      readonly nodeLocal: readonly Prefix[];
      readonly base: readonly Prefix[];
    };
  };
  /** State of the daemon, kept for ever. */
  readonly stateDir: string;
  /** Sockets, locks: gone after a boot. */
  readonly runtimeDir: string;
  readonly log: { readonly level: Level; readonly format: LogFormat };
}

/** Keys by section: what is not here is unknown. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  "": ["headscale", "tailscale", "network", "stateDir", "runtimeDir", "log"],
  headscale: ["url", "apiKeyFile", "caFile", "user", "tags", "policy"],
  tailscale: [
    "mode",
    "isolation",
    "tun",
    "socket",
    "binary",
    "stateDir",
    "port",
    "hostname",
    "environment",
  ],
  network: ["podCIDR"],
  "network.podCIDR": ["nodeLocal", "base"],
  log: ["level", "format"],
};

/**
 * The configuration in the YAML `text`, which was read from `path`.
 *
 * @throws {NodeConfigError} with all that is wrong.
 */
export function parseConfig(text: string, path: string): NodeConfig {
  let value: unknown;
  try {
    value = parseYaml(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.split("\n", 1)[0] : String(cause);
    throw configError(path, `it is no YAML: ${reason}`);
  }
  if (!isJsonObject(value)) throw configError(path, "it holds no keys");
  const root = new JsonReader(value);
  refuseUnknown(root, "");
  const config: NodeConfig = {
    headscale: readHeadscale(section(root, "headscale")),
    tailscale: readTailscale(section(root, "tailscale"), root),
    network: readNetwork(section(root, "network")),
    stateDir: directory(root, "stateDir", "/var/lib/headcni"),
    runtimeDir: directory(root, "runtimeDir", "/run/headcni"),
    log: readLog(section(root, "log")),
  };
  checkPolicy(config, root);
  if (root.problems.length === 0) return config;
  throw configError(path, root.problems.map(({ key, problem }) => `${key} ${problem}`).join("; "));
}

/** Without the cause: what the parser says quotes the file. */
function configError(path: string, reason: string): NodeConfigError {
  return new NodeConfigError({
    operation: "use configuration",
    subject: path,
    // Problems quote what was written, and a key may have been written where it does not belong.
    reason: redactKeys(reason),
    remedy: "The keys are described in docs/tailnet.md",
  });
}

function section(parent: JsonReader, key: string): JsonReader {
  const reader = parent.object(key) ??
    new JsonReader({}, { path: key, problems: parent.problems });
  refuseUnknown(reader, key);
  return reader;
}

function refuseUnknown(reader: JsonReader, path: string): void {
  const known = KEYS[path] ?? [];
  for (const key of Object.keys(reader.raw)) {
    if (!known.includes(key)) reader.problem(key, `is unknown; known are ${known.join(", ")}`);
  }
}

function readHeadscale(reader: JsonReader): NodeConfig["headscale"] {
  const url = reader.parsed("url", (text) => parseServerUrl(text).base);
  if (reader.value("url") === undefined) reader.problem("url", "is missing");
  const tags = reader.strings("tags") ?? [];
  for (const tag of tags) {
    if (!/^tag:[a-z][a-z0-9-]*$/.test(tag)) {
      reader.problem("tags", `holds "${tag}", which is no tag`);
    }
  }
  return {
    url: url ?? "",
    apiKeyFile: absolute(reader, "apiKeyFile"),
    caFile: absolute(reader, "caFile"),
    user: reader.string("user") ?? "headcni",
    tags,
    policy: reader.choice("policy", ["leave", "merge"]) ?? "leave",
  };
}

/** What is added to the policy is about a tag and about networks. */
function checkPolicy({ headscale, network }: NodeConfig, root: JsonReader): void {
  if (headscale.policy === "leave") return;
  if (headscale.tags.length === 0) {
    root.problem("headscale.policy", "is merge, which needs headscale.tags");
  }
  if (network.podCIDR.base.length === 0) {
    root.problem("headscale.policy", "is merge, which needs network.podCIDR.base");
  }
}

function readTailscale(reader: JsonReader, root: JsonReader): NodeConfig["tailscale"] {
  const mode = reader.choice("mode", ["host", "daemon"]) ?? "host";
  const isolation = reader.choice("isolation", ["none", "netns"]) ?? "none";
  if (mode === "host" && isolation === "netns") {
    reader.problem("isolation", "is netns, but in host mode tailscaled is the machine's own");
  }
  const runtimeDir = directory(root, "runtimeDir", "/run/headcni");
  const daemonSocket = `${runtimeDir}/tailscaled.sock`;
  if (mode === "daemon" && reader.value("socket") !== undefined) {
    reader.problem("socket", `is for host mode; ours listens at ${daemonSocket}`);
  }
  return {
    mode,
    isolation,
    tun: reader.string("tun") ?? (mode === "host" ? "tailscale0" : "headcni01"),
    socket: absolute(reader, "socket") ?? (mode === "host" ? DEFAULT_SOCKET : daemonSocket),
    binary: absolute(reader, "binary"),
    stateDir: directory(
      reader,
      "stateDir",
      `${directory(root, "stateDir", "/var/lib/headcni")}/tailscale`,
    ),
    port: reader.integer("port", { min: 1, max: 65_535 }) ?? 41_645,
    hostname: reader.string("hostname"),
    environment: readEnvironment(reader),
  };
}

function readEnvironment(reader: JsonReader): Readonly<Record<string, string>> {
  const variables = reader.object("environment");
  if (variables === undefined) return {};
  return Object.fromEntries(
    Object.keys(variables.raw).map((name) => [name, variables.string(name) ?? ""]),
  );
}

function readNetwork(reader: JsonReader): NodeConfig["network"] {
  const path = "network.podCIDR";
  const value = reader.value("podCIDR");
  const cidr = isJsonObject(value)
    ? new JsonReader(value, { path, problems: reader.problems })
    : new JsonReader({}, { path, problems: reader.problems });
  refuseUnknown(cidr, path);
  const nodeLocal = readPrefixes(cidr, "nodeLocal");
  const base = readPrefixes(cidr, "base");
  if (nodeLocal.length === 0) cidr.problem("nodeLocal", "is missing: this node's pod network");
  for (const { reason } of refusedPrefixes(nodeLocal, "", [])) cidr.problem("nodeLocal", reason);
  for (const { prefix, why, reason } of refusedPrefixes(base, "", [])) {
    cidr.problem("base", why === "Tailnet" ? reason : `${prefix}: ${reason}`);
  }
  for (const prefix of base.length === 0 ? [] : nodeLocal) {
    if (!base.some((one) => one.contains(prefix))) {
      cidr.problem("nodeLocal", `has ${prefix}, which is not in network.podCIDR.base`);
    }
  }
  return { podCIDR: { nodeLocal, base } };
}

/** One prefix per family, as a text with commas or a list. */
function readPrefixes(reader: JsonReader, key: string): readonly Prefix[] {
  const value = reader.value(key);
  const texts = typeof value === "string" ? value.split(",") : reader.strings(key) ?? [];
  const prefixes = texts.flatMap((text) =>
    reader.attempt(key, () => parsePrefix(text.trim())) ?? []
  );
  for (const family of [4, 6]) {
    if (prefixes.filter((prefix) => prefix.family === family).length > 1) {
      reader.problem(key, `has more than one IPv${family} prefix`);
    }
  }
  return prefixes;
}

function readLog(reader: JsonReader): NodeConfig["log"] {
  return {
    level: reader.parsed("level", parseLevel) ?? "INFO",
    format: reader.parsed("format", parseLogFormat) ?? "text",
  };
}

function absolute(reader: JsonReader, key: string): string | undefined {
  const path = reader.string(key);
  if (path === undefined || path.startsWith("/")) return path;
  reader.problem(key, `is ${JSON.stringify(path)}, which is no absolute path`);
  return undefined;
}

function directory(reader: JsonReader, key: string, otherwise: string): string {
  return (absolute(reader, key) ?? otherwise).replace(/(.)\/+$/, "$1");
}
