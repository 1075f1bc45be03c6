/**
 * What the kernel uses: addresses in every network namespace of the machine, and the host's
 * routes to single addresses, which point-to-point pods have.
 *
 * Loaded only to compare the store with the world (`headcni ipam check`, `gc`) and to make a
 * damaged store anew; never on the way of an ordinary ADD.
 */

import { type IpAddress } from "../ip/address.ts";
import { listAddresses } from "../netlink/address.ts";
import { openConnection } from "../netlink/connection.ts";
import { NetnsError } from "../netlink/errors.ts";
import { listLinks } from "../netlink/link.ts";
import { type Netns, openNetns, openOwnNetns } from "../netlink/netns.ts";
import { listRoutes } from "../netlink/route.ts";
import { type FoundAddress } from "../store/store.ts";
import { FileError } from "../sys/file_error.ts";
import { denoFiles } from "../sys/files.ts";

/** An address on an interface, or one the host has a route to. */
export interface ObservedAddress {
  readonly address: IpAddress;
  /** Where: the path of the namespace it was entered by, or the host's route. */
  readonly place: string;
  readonly ifname: string;
  /** Device and inode of the namespace; `undefined` for a route of the host. */
  readonly netnsId: string | undefined;
}

/** The machine at one moment. */
export interface Observation {
  readonly addresses: readonly ObservedAddress[];
  /** For each path that was asked for: the namespace there, or `undefined` if there is none. */
  readonly namespaces: ReadonlyMap<string, string | undefined>;
  /** Processes whose namespace we may not look into, as paths. */
  readonly unseen: readonly string[];
}

/** Where namespaces that outlive their processes are kept: iproute2, CRI-O, Docker. */
const DIRECTORIES = ["/run/netns", "/var/run/netns", "/var/run/docker/netns"];

/** RTN_UNICAST of linux/rtnetlink.h. */
const RTN_UNICAST = 1;

/**
 * Looks at the whole machine. `paths` are namespaces that must be looked at, wherever they are.
 *
 * What ends meanwhile is left out. The host's own addresses are not part of it.
 */
export function observe(paths: readonly string[] = []): Observation {
  const namespaces = new Map<string, string | undefined>();
  const addresses: ObservedAddress[] = [];
  using own = openOwnNetns();
  const seen = new Set([own.id]);
  const unseen: string[] = [];
  for (const path of [...paths, ...namedNamespaces(), ...processNamespaces()]) {
    using netns = openIfPresent(path, (refused) => unseen.push(refused));
    namespaces.set(path, netns?.id);
    if (netns === undefined || seen.has(netns.id)) continue;
    seen.add(netns.id);
    addresses.push(...addressesIn(netns, path));
  }
  return { addresses: [...addresses, ...hostRoutes()], namespaces, unseen };
}

/** {@linkcode observe} in the form in which a store is made anew. */
export function observedAddresses(): FoundAddress[] {
  return observe().addresses.map(({ address, place, ifname }) => ({
    address,
    place: `${ifname} in ${place}`,
  }));
}

function addressesIn(netns: Netns, path: string): ObservedAddress[] {
  using connection = openConnection({ netns });
  const names = new Map(listLinks(connection).map(({ index, name }) => [index, name]));
  const netnsId = netns.id;
  return listAddresses(connection)
    .map(({ address, index }) => ({ address: address.address, index }))
    .filter(({ address }) => !address.isLoopback && !address.isLinkLocal)
    .map(({ address, index }) => ({
      address,
      place: path,
      ifname: names.get(index) ?? `#${index}`,
      netnsId,
    }));
}

/** Routes of the host to one address each, through an interface and no gateway. */
function hostRoutes(): ObservedAddress[] {
  using connection = openConnection();
  const names = new Map(listLinks(connection).map(({ index, name }) => [index, name]));
  return listRoutes(connection, { type: RTN_UNICAST })
    .filter(({ destination, gateway, index }) =>
      destination.isHost && gateway === undefined && index !== undefined &&
      !destination.address.isLinkLocal && !destination.address.isMulticast
    )
    .map(({ destination, index }) => ({
      address: destination.address,
      place: "the host's routes",
      ifname: names.get(index ?? 0) ?? `#${index}`,
      netnsId: undefined,
    }));
}

function namedNamespaces(): string[] {
  return DIRECTORIES.flatMap((directory) =>
    listIfPresent(directory).map((name) => `${directory}/${name}`)
  );
}

function processNamespaces(): string[] {
  return listIfPresent("/proc").filter((name) => /^\d+$/.test(name))
    .map((pid) => `/proc/${pid}/ns/net`);
}

function listIfPresent(directory: string): string[] {
  try {
    return denoFiles.list(directory).map(({ name }) => name);
  } catch (error) {
    if (error instanceof FileError) return [];
    throw error;
  }
}

/** `undefined` for what is no namespace (any more), such as the file a crash left behind. */
function openIfPresent(path: string, onRefused: (path: string) => void): Netns | undefined {
  try {
    return openNetns(path);
  } catch (error) {
    if (!(error instanceof NetnsError)) throw error;
    if (error.kind !== "refused") return undefined;
    // Another user's process: a security module may keep even root out.
    if (!path.startsWith("/proc/")) throw error;
    onRefused(path);
    return undefined;
  }
}
