/** The configuration of a delegate, completed as flannel's plugin completes it. */

import { isJsonObject, type JsonObject } from "../../sys/json_reader.ts";
import { isOwnIpam } from "../plugin_config.ts";
import { type Platform } from "./platform.ts";
import { type Subnet } from "./subnet_file.ts";

/** What a delegate is completed from. */
export interface DelegateParts {
  readonly platform: Platform;
  readonly subnet: Subnet;
  /** `ipam` beside `delegate`. */
  readonly ipam: JsonObject;
  /** Our own data directory, for our own IPAM. */
  readonly dataDir: string | undefined;
}

/** The IPAM that flannel's plugin takes, and the one our own data path does. */
const DEFAULT_IPAM = "host-local";
const OWN_IPAM = "headcni-ipam";

/**
 * `delegate` with what it lacks: `type`, `ipMasq`, `mtu`, `isGateway` of a bridge, and `ipam`.
 *
 * @example
 * ```ts
 * import { completeDelegate } from "./delegate_config.ts";
 * import { LINUX } from "./platform.ts";
 * import { parseSubnet } from "./subnet_file.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const subnet = parseSubnet(
 *   "HEADCNI_NETWORK=10.1.0.0/16\nHEADCNI_SUBNET=10.1.17.1/24\n" +
 *     "HEADCNI_MTU=1280\nHEADCNI_IPMASQ=true\n",
 * );
 * const parts = { platform: LINUX, subnet, ipam: {}, dataDir: undefined };
 * assertEquals(completeDelegate({ hairpinMode: true }, parts), {
 *   type: "bridge",
 *   ipMasq: false,
 *   mtu: 1280,
 *   isGateway: true,
 *   hairpinMode: true,
 *   ipam: {
 *     type: "host-local",
 *     ranges: [[{ subnet: "10.1.17.0/24" }]],
 *     routes: [{ dst: "10.1.0.0/16", gw: "10.1.17.1" }],
 *   },
 * });
 * ```
 */
export function completeDelegate(
  delegate: JsonObject,
  { platform, subnet, ipam, dataDir }: DelegateParts,
): JsonObject & { readonly type: string } {
  const type = typeof delegate.type === "string" ? delegate.type : platform.defaultDelegate ?? "";
  const written = withoutNull(delegate);
  const ipamType = typeof ipam.type === "string"
    ? ipam.type
    : type === "headcni"
    ? OWN_IPAM
    : DEFAULT_IPAM;
  return {
    ...platform.delegateDefaults(type, subnet),
    ...written,
    type,
    ipam: {
      ...(isOwnIpam(ipamType) && dataDir !== undefined ? { dataDir } : {}),
      ...withoutNull(ipam),
      type: ipamType,
      ...platform.ipamPools(subnet),
      routes: routesOf(ipam, subnet),
    },
  };
}

/**
 * The configuration's own, then one to each network of the cluster, if the node has a subnet of
 * that family; none twice.
 *
 * Flannel leaves the gateway out, and plugins take the subnet's first address. Written down it
 * is the same route, and CHECK of bridge finds it: that one compares gateways.
 */
function routesOf(ipam: JsonObject, { networks, subnets }: Subnet): readonly JsonObject[] {
  const written = Array.isArray(ipam.routes) ? ipam.routes.filter(isJsonObject) : [];
  const known = new Set(written.map(({ dst }) => dst));
  const added = networks.flatMap((network) => {
    const subnet = subnets.find(({ family }) => family === network.family);
    if (subnet === undefined || known.has(network.toString())) return [];
    return [{ dst: network.toString(), gw: subnet.network.offset(1n).toString() }];
  });
  return [...written, ...added];
}

/** Go takes a key that is `null` for one that is missing. */
function withoutNull(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));
}
