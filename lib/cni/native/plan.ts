/**
 * What an attachment looks like in the kernel: decided here, done in `attach.ts`, compared
 * in `compare.ts`.
 *
 * A routed point-to-point veth without a bridge (ARCHITECTURE.md, "Data path"). The container's
 * address has the length of its subnet, but no prefix route: everything, neighbours in the
 * same subnet included, goes through the gateway, which is the other end of the veth. So
 * every packet between pods passes the host's forward hook.
 */

import { type HostPort } from "../../firewall/pod_rules.ts";
import { IpAddress, parseAddress } from "../../ip/address.ts";
import { parsePrefix, Prefix } from "../../ip/prefix.ts";
import { ResultError } from "../errors.ts";
import { type CniResult, type ResultRoute } from "../result.ts";
import {
  type AttachmentKey,
  derivedMac,
  hostInterfaceAlias,
  hostInterfaceName,
} from "./host_interface.ts";

/** A route to be made in the container. */
export interface PlannedRoute {
  readonly destination: Prefix;
  readonly gateway?: IpAddress;
  /** The gateway is on the link, whatever other routes say. */
  readonly onlink?: boolean;
  readonly scope?: number;
  readonly table?: number;
  readonly priority?: number;
  readonly mtu?: number;
  readonly advmss?: number;
}

/** One end of the veth. */
export interface PlannedEnd {
  readonly name: string;
  readonly mac: string;
  readonly addresses: readonly Prefix[];
}

/** An attachment as it should be. */
export interface AttachmentPlan {
  /** What `ip link` shows beside the host end. */
  readonly alias: string;
  readonly mtu: number;
  readonly host: PlannedEnd;
  readonly container: PlannedEnd;
  /** Whether clients on the node's 127.0.0.1 are led to the container. */
  readonly servesLoopback: boolean;
  /** In the order they have to be made: gateways first. */
  readonly containerRoutes: readonly PlannedRoute[];
  /** Each container address, to be routed to the host end. */
  readonly hostRoutes: readonly Prefix[];
}

/** What a plan is made from. */
export interface PlanRequest {
  readonly key: AttachmentKey;
  /** Addresses, gateways and routes, as IPAM gave them. */
  readonly ipam: CniResult;
  readonly mtu: number;
  /** What the runtime wants the container's hardware address to be. */
  readonly mac?: string | undefined;
  readonly hostPorts?: readonly HostPort[];
}

/** Gateways for addresses that came without one; both are link-local and mean "the other end". */
const FALLBACK_GATEWAYS: Readonly<Record<4 | 6, IpAddress>> = {
  4: new IpAddress(4, 0xa9fe0101n), // 169.254.1.1
  6: new IpAddress(6, 0xfe80n << 112n | 1n), // fe80::1
};

/** The host end always has it: containers find the host without knowing any address. */
const HOST_LINK_LOCAL = new Prefix(FALLBACK_GATEWAYS[6], 64);

/**
 * Makes a plan.
 *
 * @throws {ResultError} if IPAM gave nothing, or something that is no address or route.
 */
export function planAttachment(request: PlanRequest): AttachmentPlan {
  const { key, ipam, mtu } = request;
  const ips = readAddresses(ipam);
  const gateways = uniqueGateways(ips.map(({ gateway }) => gateway));
  return {
    alias: hostInterfaceAlias(key),
    mtu,
    host: {
      name: hostInterfaceName(key),
      mac: derivedMac(key, "host"),
      addresses: hostAddresses(gateways),
    },
    container: {
      name: key.ifname,
      mac: request.mac ?? derivedMac(key, "container"),
      addresses: ips.map(({ address }) => address),
    },
    servesLoopback: request.hostPorts?.some(isOnLoopback) ?? false,
    containerRoutes: [
      ...gateways.filter((gateway) => !gateway.isLinkLocal || gateway.family === 4)
        .map((gateway) => ({ destination: hostPrefix(gateway) })),
      ...ipam.routes.map((route) => planRoute(route, gateways)),
    ],
    hostRoutes: ips.map(({ address }) => hostPrefix(address.address)),
  };
}

/** IPv6 has no way out of the loopback, so only 127.0.0.0/8 counts. */
function isOnLoopback({ hostIp }: HostPort): boolean {
  if (hostIp === undefined) return true;
  return hostIp.family === 4 && (hostIp.isUnspecified || hostIp.isLoopback);
}

function readAddresses(ipam: CniResult): { address: Prefix; gateway: IpAddress }[] {
  if (ipam.ips.length === 0) throw unusable("it has no address");
  return ipam.ips.map(({ address: text, gateway }) => {
    const address = attempt(() => parsePrefix(text));
    return {
      address,
      gateway: gateway === undefined
        ? FALLBACK_GATEWAYS[address.family]
        : attempt(() => parseAddress(gateway)),
    };
  });
}

/** The gateway's own address on each veth, and for IPv6 a link-local one beside it. */
function hostAddresses(gateways: readonly IpAddress[]): readonly Prefix[] {
  const own = gateways.filter((gateway) => !gateway.equals(HOST_LINK_LOCAL.address))
    .map(hostPrefix);
  return gateways.some(({ family }) => family === 6) ? [...own, HOST_LINK_LOCAL] : own;
}

function planRoute(route: ResultRoute, gateways: readonly IpAddress[]): PlannedRoute {
  const destination = attempt(() => parsePrefix(route.dst)).masked();
  const gateway = chooseGateway(route.gw, destination.family, gateways);
  const { scope, table, priority, mtu, advmss } = route;
  return {
    destination,
    // A route of link scope leads to the link itself (253 in <linux/rtnetlink.h>, as in SPEC).
    // Else its gateway is on the link, whatever the container's other interfaces say: a second
    // one in the same subnet has the same gateway, whose own route leads to the first.
    ...(gateway === undefined || scope === 253 ? {} : { gateway, onlink: true }),
    ...(scope === undefined ? {} : { scope }),
    ...(table === undefined || table === 0 ? {} : { table }),
    ...(priority ? { priority } : {}),
    ...(mtu ? { mtu } : {}),
    ...(advmss ? { advmss } : {}),
  };
}

/**
 * The next hop of a route: its own, else the gateway of its family.
 *
 * For IPv6 our own gateway is reached by its link-local address. Two interfaces in one subnet
 * have the same gateway, and the kernel refuses a global one whose route leads to the other
 * interface, `onlink` or not; a link-local one belongs to the interface it is used on.
 */
function chooseGateway(
  written: string | undefined,
  family: 4 | 6,
  gateways: readonly IpAddress[],
): IpAddress | undefined {
  const wanted = written === undefined ? undefined : attempt(() => parseAddress(written));
  const own = gateways.find((gateway) =>
    gateway.family === family && (wanted === undefined || wanted.equals(gateway))
  );
  if (own === undefined) return wanted;
  return family === 6 ? FALLBACK_GATEWAYS[6] : own;
}

function uniqueGateways(gateways: readonly IpAddress[]): IpAddress[] {
  return gateways.filter((gateway, index) =>
    gateways.findIndex((other) => other.equals(gateway)) === index
  );
}

/** The address alone: `/32` or `/128`. */
function hostPrefix(address: IpAddress): Prefix {
  return new Prefix(address, address.bits);
}

function attempt<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw unusable(error.message, error);
  }
}

function unusable(reason: string, cause?: unknown): ResultError {
  return new ResultError({ operation: "use", subject: "IPAM result", reason, cause });
}
