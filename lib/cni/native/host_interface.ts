/**
 * Names and hardware addresses derived from what an attachment is called.
 *
 * Derived, not random: a repeated ADD finds what a killed one left behind, and DEL works
 * without any record.
 */

import { formatMac } from "../../netlink/mac.ts";

/** What identifies an attachment (SPEC: network name, container id, interface name). */
export interface AttachmentKey {
  readonly network: string;
  readonly containerId: string;
  readonly ifname: string;
}

/** The key of what a request is about. */
export function keyOf({ network, containerId, ifname }: AttachmentKey): AttachmentKey {
  return { network, containerId, ifname };
}

/** Every host-side interface of ours starts with this; nft rules match `hcni*`. */
export const HOST_INTERFACE_PREFIX = "hcni";

/** Five bits a character; no letter can be mistaken for a digit. */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/** The kernel takes 15 bytes; 11 characters are 55 bits, enough for a node's pods for ever. */
const HASH_CHARACTERS = 11;

/**
 * The name of the host end of an attachment's veth.
 *
 * @example
 * ```ts
 * import { hostInterfaceName } from "./host_interface.ts";
 * import { assertMatch } from "@std/assert";
 *
 * const key = { network: "headcni", containerId: "0f3a", ifname: "eth0" };
 * assertMatch(hostInterfaceName(key), /^hcni[0-9a-z]{11}$/);
 * ```
 */
export function hostInterfaceName(key: AttachmentKey): string {
  let hash = hashOf(key);
  let name = HOST_INTERFACE_PREFIX;
  for (let index = 0; index < HASH_CHARACTERS; index++) {
    name += ALPHABET[Number(hash & 31n)];
    hash >>= 5n;
  }
  return name;
}

/**
 * Hardware addresses of both ends: locally administered, the same after a restart. Given
 * explicitly, so that systemd's MACAddressPolicy does not change them behind our back.
 */
export function derivedMac(key: AttachmentKey, end: "host" | "container"): string {
  const hash = hashOf({ ...key, ifname: `${key.ifname}\0${end}` });
  const mac = new Uint8Array(6);
  for (let index = 0; index < 6; index++) mac[index] = Number(hash >> BigInt(8 * index) & 255n);
  mac[0] = (mac[0] ?? 0) & 0xfc | 0x02; // locally administered, unicast
  return formatMac(mac);
}

/** FNV-1a with 64 bits: no secret is at stake, and loading a hash library costs more than ADD. */
const FNV_OFFSET = 0xcbf29ce484222325n;
const FNV_PRIME = 0x100000001b3n;

function hashOf({ network, containerId, ifname }: AttachmentKey): bigint {
  let hash = FNV_OFFSET;
  for (const byte of new TextEncoder().encode(`${network}\0${containerId}\0${ifname}`)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * FNV_PRIME);
  }
  // FNV mixes its last bytes poorly upwards; one more round spreads them.
  return BigInt.asUintN(64, (hash ^ hash >> 32n) * FNV_PRIME);
}

/**
 * What `ip link` shows of the attachment a host interface belongs to. GC goes by the network
 * in it when the store knows nothing of the interface. At most 255 bytes, says the kernel;
 * `ifname` may have ten more than letters.
 */
export function hostInterfaceAlias({ network, containerId, ifname }: AttachmentKey): string {
  return `headcni ${network} ${ifname} ${containerId}`.slice(0, 240);
}

/** The network an alias names; `undefined` if it is not one of ours. */
export function aliasNetwork(alias: string | undefined): string | undefined {
  const [owner, network] = (alias ?? "").split(" ");
  return owner === "headcni" ? network : undefined;
}

const LEAVING = "deleting";

/**
 * What the alias says from when a DEL begins. The kernel takes its time to delete an interface,
 * and a DEL that is killed before it could ask for that must not leave one that looks in use.
 */
export function leavingAlias(network: string): string {
  return `${`headcni ${network}`.slice(0, 240)} ${LEAVING}`;
}

/** Whether a DEL of the interface with this alias has begun. */
export function isLeaving(alias: string | undefined): boolean {
  const [owner, , word, ...more] = (alias ?? "").split(" ");
  return owner === "headcni" && word === LEAVING && more.length === 0;
}
