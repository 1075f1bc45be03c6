/**
 * The subnet file: which part of the cluster's network this node has.
 *
 * Lines of `HEADCNI_…=value`, as the daemon writes them; flannel's `FLANNEL_…` mean the same,
 * so that a node can be taken over. A variable of the environment is stronger than a line.
 */

import { parsePrefix, type Prefix } from "../../ip/prefix.ts";
import { FileError } from "../../sys/file_error.ts";
import { denoFiles, type Files } from "../../sys/files.ts";
import { SubnetFileError } from "../errors.ts";

/** What the file says. */
export interface Subnet {
  /** Networks of the whole cluster, IPv4 first: pods reach them through their gateway. */
  readonly networks: readonly Prefix[];
  /** The node's own part of them, at most one of each family, IPv4 first. */
  readonly subnets: readonly Prefix[];
  readonly mtu: number;
  /** Whether the daemon masquerades, so that plugins must not. */
  readonly ipMasq: boolean;
}

/** Where the daemon writes the file. */
export const SUBNET_FILE = "/run/headcni/subnet.env";

/** Where flannel does: read if nobody names a file and ours is not there. */
export const FLANNEL_SUBNET_FILE = "/run/flannel/subnet.env";

/** The environment variable that names the file. */
export const SUBNET_FILE_VARIABLE = "HEADCNI_SUBNET_FILE";

const KEYS = ["NETWORK", "SUBNET", "IPV6_NETWORK", "IPV6_SUBNET", "MTU", "IPMASQ"] as const;

type Key = typeof KEYS[number];

type Environment = (name: string) => string | undefined;

/** The smallest for IPv4 (RFC 791), for IPv6 (RFC 8200), and the largest a link takes. */
const MTU = { least: 68, leastIpv6: 1280, most: 65_535 } as const;

/** What {@linkcode readSubnet} touches. */
export interface SubnetPorts {
  readonly env: Environment;
  /** @default {denoFiles} */
  readonly files?: Pick<Files, "readText">;
}

/**
 * Reads the file `configured` names, else `HEADCNI_SUBNET_FILE`, else the default.
 *
 * @throws {SubnetFileError} listing all that is missing or wrong.
 */
export function readSubnet(configured: string | undefined, ports: SubnetPorts): Subnet {
  const { env, files = denoFiles } = ports;
  const named = configured || env(SUBNET_FILE_VARIABLE) || undefined;
  const candidates = named === undefined ? [SUBNET_FILE, FLANNEL_SUBNET_FILE] : [named];
  for (const path of candidates) {
    const text = readIfPresent(path, files);
    if (text !== undefined) return parseSubnet(text, { path, env });
  }
  const [path = SUBNET_FILE] = candidates;
  if (KEYS.some((key) => valueOfEnvironment(key, env) !== undefined)) {
    return parseSubnet("", { path, env }); // the environment may say all of it
  }
  throw new SubnetFileError(path, []);
}

function readIfPresent(path: string, files: Pick<Files, "readText">): string | undefined {
  try {
    return files.readText(path);
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    if (error.code === "NotFound") return undefined;
    throw new SubnetFileError(path, [error.reason], error.cause);
  }
}

/**
 * Reads the text of a subnet file.
 *
 * @throws {SubnetFileError} listing all that is missing or wrong.
 *
 * @example
 * ```ts
 * import { parseSubnet } from "./subnet_file.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const text = "HEADCNI_NETWORK=10.1.0.0/16\nHEADCNI_SUBNET=10.1.17.1/24\n" +
 *   "HEADCNI_MTU=1280\nHEADCNI_IPMASQ=true\n";
 * const { subnets, mtu } = parseSubnet(text);
 * assertEquals([subnets.join(), mtu], ["10.1.17.0/24", 1280]);
 * ```
 */
export function parseSubnet(
  text: string,
  options: { readonly path?: string; readonly env?: Environment } = {},
): Subnet {
  const { path = SUBNET_FILE, env = () => undefined } = options;
  const problems: string[] = [];
  const values = readLines(text, problems);
  const value = (key: Key): Value | undefined =>
    valueOfEnvironment(key, env) ?? values.get(`HEADCNI_${key}`) ?? values.get(`FLANNEL_${key}`);
  const networks = [
    ...readPrefixes(value("NETWORK"), { family: 4, many: true, problems }),
    ...readPrefixes(value("IPV6_NETWORK"), { family: 6, many: true, problems }),
  ];
  const subnets = [
    ...readPrefixes(value("SUBNET"), { family: 4, many: false, problems }),
    ...readPrefixes(value("IPV6_SUBNET"), { family: 6, many: false, problems }),
  ];
  const isGiven = (...keys: Key[]) => keys.some((key) => value(key) !== undefined);
  if (!isGiven("NETWORK", "IPV6_NETWORK")) {
    problems.push("HEADCNI_NETWORK and HEADCNI_IPV6_NETWORK are missing, one is needed");
  }
  if (!isGiven("SUBNET", "IPV6_SUBNET")) {
    problems.push("HEADCNI_SUBNET and HEADCNI_IPV6_SUBNET are missing, one is needed");
  }
  const isIpv6 = subnets.some(({ family }) => family === 6);
  const mtu = readMtu(value("MTU"), isIpv6 ? MTU.leastIpv6 : MTU.least, problems);
  const ipMasq = readBoolean(value("IPMASQ"), problems);
  if (problems.length > 0) throw new SubnetFileError(path, problems);
  return { networks, subnets, mtu, ipMasq };
}

/** A value and the name it stands under. */
interface Value {
  readonly name: string;
  readonly text: string;
}

function valueOfEnvironment(key: Key, env: Environment): Value | undefined {
  const name = `HEADCNI_${key}`;
  const text = env(name);
  return text === undefined || text === "" ? undefined : { name, text };
}

/** `NAME=value`; comments, empty lines and names we do not know are passed over. */
function readLines(text: string, problems: string[]): ReadonlyMap<string, Value> {
  const known = new Set(KEYS.flatMap((key) => [`HEADCNI_${key}`, `FLANNEL_${key}`]));
  const values = new Map<string, Value>();
  for (const [index, raw] of text.split("\n").entries()) {
    const line = raw.trim().replace(/^export\s+/, "");
    const at = line.indexOf("=");
    const name = (at < 0 ? line : line.slice(0, at)).trim();
    if (!known.has(name)) continue;
    if (at < 0) problems.push(`line ${index + 1}: ${name} has no value`);
    const value = line.slice(at + 1).trim().replace(/^(["'])(.*)\1$/, "$2");
    if (at >= 0 && value !== "") values.set(name, { name, text: value });
  }
  return values;
}

/** Host bits are masked: `10.1.17.1/24`, the form of a gateway, names the subnet as well. */
function readPrefixes(
  value: Value | undefined,
  options: { family: 4 | 6; many: boolean; problems: string[] },
): Prefix[] {
  if (value === undefined) return [];
  const { family, many, problems } = options;
  const parts = value.text.split(",").map((part) => part.trim()).filter((part) => part !== "");
  if (!many && parts.length > 1) problems.push(`${value.name} has more than one prefix`);
  return parts.flatMap((part) => {
    try {
      const prefix = parsePrefix(part).masked();
      if (prefix.family === family) return [prefix];
      problems.push(`${value.name}: ${part} is not of IPv${family}`);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      problems.push(`${value.name}: ${error.message}`);
    }
    return [];
  });
}

function readMtu(value: Value | undefined, least: number, problems: string[]): number {
  if (value === undefined) {
    problems.push("HEADCNI_MTU is missing");
    return 0;
  }
  const mtu = /^\d+$/.test(value.text) ? Number(value.text) : NaN;
  if (mtu >= least && mtu <= MTU.most) return mtu;
  const shown = JSON.stringify(value.text);
  problems.push(`${value.name} is ${shown}, not a number between ${least} and ${MTU.most}`);
  return 0;
}

function readBoolean(value: Value | undefined, problems: string[]): boolean {
  if (value?.text === "true" || value?.text === "false") return value.text === "true";
  problems.push(
    value === undefined
      ? "HEADCNI_IPMASQ is missing"
      : `${value.name} is ${JSON.stringify(value.text)} instead of true or false`,
  );
  return false;
}
