/**
 * A network namespace for our tailscaled, so that it can live beside another one.
 *
 * ```
 *  node ── headcni-ts0 169.254.101.1/30 ════ uplink0 169.254.101.2/30 ── headcni-tailscale
 *          fd68:6361:6e69::1/126                     fd68:6361:6e69::2/126     └─ headcni01
 * ```
 *
 * The node sends what is for the tailnet through the veth; tailscaled sends its own packets,
 * encrypted, back through it and out. For those the node must forward and masquerade: both
 * belong to whoever owns the node's packet filter.
 */

import { type IpAddress, parsePrefix, type Prefix } from "../ip/mod.ts";
import {
  addAddress,
  createVeth,
  deleteLink,
  deleteRoute,
  findLink,
  getLink,
  listAddresses,
  listRoutes,
  type NetlinkConnection,
  type Netns,
  NetnsError,
  openConnection,
  openNetns,
  replaceRoute,
  setLinkUp,
  writeSysctl,
} from "../netlink/mod.ts";
import { RT_TABLE_MAIN } from "../netlink/constants/rtnetlink.ts";
import { createNetns, deleteNetns, netnsPath } from "../netlink/named_netns.ts";

/** One end of the cable. */
export interface CableEnd {
  readonly link: string;
  /** Address in its prefix, one per family. */
  readonly addresses: readonly Prefix[];
}

/** How the namespace is joined. */
export interface IsolationSpec {
  /** Name of the namespace. @default {"headcni-tailscale"} */
  readonly name?: string;
  /** The node's end. */
  readonly outside?: CableEnd;
  /** The namespace's end. */
  readonly inside?: CableEnd;
  /** The node's namespace; this program's own if absent. */
  readonly node?: Netns;
  /** Table of the node's routes through the cable. @default {254} main */
  readonly table?: number;
}

/** A namespace that is joined to the node. */
export interface Isolation {
  /** For `TailscaledSettings.netns`. */
  readonly name: string;
  /** Index of the node's end. */
  readonly index: number;
  /** Where the node sends what is for the tailnet, one per family. */
  readonly gateways: readonly IpAddress[];
}

/** The node's end, unless told otherwise. */
export const OUTSIDE: CableEnd = {
  link: "headcni-ts0",
  addresses: ["169.254.101.1/30", "fd68:6361:6e69::1/126"].map((text) => parsePrefix(text)),
};
/** The namespace's end, unless told otherwise. */
export const INSIDE: CableEnd = {
  link: "uplink0",
  addresses: ["169.254.101.2/30", "fd68:6361:6e69::2/126"].map((text) => parsePrefix(text)),
};

const DEFAULT_ROUTES = { 4: parsePrefix("0.0.0.0/0"), 6: parsePrefix("::/0") } as const;

/** Marks routes and rules as ours. Free in `/etc/iproute2/rt_protos`. */
export const RTPROT_HEADCNI = 104;

/** Name of the namespace, unless told otherwise. */
export const ISOLATION_NAME = "headcni-tailscale";

/**
 * Makes sure that the namespace is there and joined; what is in order stays untouched, so a
 * tailscaled inside runs on.
 *
 * @throws {NetlinkError}
 */
export function ensureIsolation(spec: IsolationSpec = {}): Isolation {
  const { name = ISOLATION_NAME, outside = OUTSIDE, inside = INSIDE } = spec;
  using netns = ensureNetns(name);
  using node = openNode(spec);
  using room = openConnection({ netns });
  const isJoined = findLink(node, { name: outside.link })?.kind === "veth" &&
    findLink(room, { name: inside.link })?.kind === "veth";
  if (!isJoined) joinByVeth(node, { outside: outside.link, inside: inside.link, netns });
  const index = bringUp(node, outside);
  bringUp(room, { link: "lo", addresses: [] });
  const insideIndex = bringUp(room, inside);
  for (const { address, family } of outside.addresses) {
    room.execute(
      replaceRoute({
        destination: DEFAULT_ROUTES[family],
        gateway: address,
        index: insideIndex,
        onlink: true,
      }),
    );
  }
  // It forwards between the cable and the tunnel. Loose: an answer may come the other way.
  writeSysctl("net/ipv4/ip_forward", 1, { netns });
  writeSysctl("net/ipv6/conf/all/forwarding", 1, { netns });
  writeSysctl("net/ipv4/conf/all/rp_filter", 2, { netns });
  return { name, index, gateways: inside.addresses.map(({ address }) => address) };
}

/**
 * Makes the node send exactly `prefixes` through the cable: missing routes are added, others
 * that were made here are deleted.
 *
 * @throws {NetlinkError}
 */
export function syncIsolationRoutes(
  isolation: Isolation,
  prefixes: readonly Prefix[],
  spec: Pick<IsolationSpec, "node" | "table"> = {},
): void {
  const { index, gateways } = isolation;
  const { table = RT_TABLE_MAIN } = spec;
  using node = openNode(spec);
  const wanted = new Set(prefixes.map((prefix) => `${prefix.masked()}`));
  for (const route of listRoutes(node, { index, table, protocol: RTPROT_HEADCNI })) {
    const { destination } = route;
    if (wanted.has(`${destination}`)) continue;
    node.execute(deleteRoute({ destination, index, table, protocol: RTPROT_HEADCNI }));
  }
  for (const prefix of prefixes) {
    const gateway = gateways.find(({ family }) => family === prefix.family);
    if (gateway === undefined) continue;
    const destination = prefix.masked();
    node.execute(replaceRoute({ destination, gateway, index, table, protocol: RTPROT_HEADCNI }));
  }
}

/**
 * Takes cable and namespace away; end tailscaled first. The routes go with the cable.
 *
 * @returns whether there was anything.
 * @throws {NetlinkError}
 */
export function removeIsolation(spec: IsolationSpec = {}): boolean {
  const { name = ISOLATION_NAME, outside = OUTSIDE } = spec;
  using node = openNode(spec);
  const link = findLink(node, { name: outside.link });
  if (link !== undefined) node.execute(deleteLink({ index: link.index }));
  const hadName = deleteNetns(name);
  return hadName || link !== undefined;
}

function openNode({ node }: Pick<IsolationSpec, "node">): NetlinkConnection {
  return openConnection(node === undefined ? {} : { netns: node });
}

function ensureNetns(name: string): Netns {
  try {
    return openNetns(netnsPath(name));
  } catch (error) {
    if (!(error instanceof NetnsError) || error.kind === "refused") throw error;
    // A plain file is what a creation that was cut off leaves.
    if (error.kind === "foreign") deleteNetns(name);
    return createNetns(name);
  }
}

/** Anew, because half a cable is none. The namespace's end never shows up on the node. */
function joinByVeth(
  node: NetlinkConnection,
  cable: { readonly outside: string; readonly inside: string; readonly netns: Netns },
): void {
  const { outside, inside, netns } = cable;
  const old = findLink(node, { name: outside });
  if (old !== undefined) node.execute(deleteLink({ index: old.index }));
  node.execute(createVeth({ name: outside, peer: { name: inside, netns } }));
}

function bringUp(connection: NetlinkConnection, { link, addresses }: CableEnd): number {
  const { index, up } = getLink(connection, { name: link });
  const present = new Set(listAddresses(connection, { index }).map(({ address }) => `${address}`));
  for (const address of addresses) {
    if (present.has(`${address}`)) continue;
    connection.execute(addAddress({ index, address, noDad: address.family === 6 }));
  }
  if (!up) connection.execute(setLinkUp({ index }));
  return index;
}
