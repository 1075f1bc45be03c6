/** Taking addresses back: DEL, GC, the end of a rest, the restart of the machine. */

import { type IpAddress } from "../ip/address.ts";
import { type Attachment, type AttachmentKey } from "../store/attachments.ts";
import { type NetworkRecords } from "../store/network.ts";
import { type Store } from "../store/store.ts";
import { failpoint } from "../sys/failpoint.ts";

/**
 * Addresses one call wakes per family, and attachments it reclaims. Each call adds at most a
 * few to the queue, so it cannot grow for want of waking, and no call pays for a burst of
 * releases that happened before it.
 */
export const WAKE_LIMIT = 64;

/** What is released. */
export interface ReleaseRequest {
  readonly network: string;
  readonly key: AttachmentKey;
  readonly cooldownMs: number;
  /**
   * Addresses the attachment is known to have had. Those that were only found in use when
   * the store was rebuilt have no other way back.
   */
  readonly known?: readonly IpAddress[];
}

/**
 * Releases what the attachment holds; they rest for `cooldownMs`. Nothing held is fine: DEL
 * must succeed when repeated. Returns what was released.
 *
 * @throws {StoreError}
 */
export function release(store: Store, request: ReleaseRequest): IpAddress[] {
  failpoint("release.begin");
  const released = store.transaction(() => {
    if (store.network(request.network) === undefined) return [];
    const network = store.ensureNetwork(request.network);
    const { key, cooldownMs, known = [] } = request;
    const attachment = network.attachments.find(key);
    failpoint("release.read");
    const addresses = attachment === undefined
      ? releaseFound(network, known, cooldownMs)
      : releaseAttachment(network, attachment.id, cooldownMs);
    wakeRested(network, cooldownMs);
    failpoint("release.uncommitted");
    return addresses;
  });
  failpoint("release.committed");
  return released;
}

/** Releases the attachments that `isStale` names, at most `limit`. Returns which. */
export function releaseStale(
  store: Store,
  request: { network: string; cooldownMs: number; limit: number },
  isStale: (attachment: Attachment) => boolean,
): Attachment[] {
  return store.transaction(() => {
    if (store.network(request.network) === undefined) return [];
    const network = store.ensureNetwork(request.network);
    const stale = network.attachments.list().filter(isStale).slice(0, request.limit);
    for (const { id } of stale) releaseAttachment(network, id, request.cooldownMs);
    return stale;
  });
}

/** Ends the attachment in row `id`. Call it in a transaction. */
export function releaseAttachment(
  network: NetworkRecords,
  id: number,
  cooldownMs: number,
): IpAddress[] {
  const addresses = network.addresses.ofAttachment(id);
  for (const address of addresses) {
    giveBack(network, address, cooldownMs);
    failpoint("release.rested");
  }
  network.attachments.remove(id);
  failpoint("release.detached");
  return addresses;
}

/** Releases a held address that no attachment has; see {@linkcode ReleaseRequest.known}. */
function releaseFound(
  network: NetworkRecords,
  known: readonly IpAddress[],
  cooldownMs: number,
): IpAddress[] {
  const found = known.filter((address) => network.addresses.find(address)?.kind === "found");
  for (const address of found) giveBack(network, address, cooldownMs);
  return found;
}

/** held → at rest, or free at once if nothing is to rest. */
export function giveBack(network: NetworkRecords, address: IpAddress, cooldownMs: number): void {
  if (cooldownMs > 0) network.rest(address);
  else network.drop(address);
}

/** Frees addresses that have rested long enough. */
export function wakeRested(network: NetworkRecords, cooldownMs: number): void {
  for (const family of [4, 6] as const) {
    const options = { restMs: cooldownMs, limit: WAKE_LIMIT };
    for (const address of network.resting.rested(family, options)) network.wake(address);
  }
}

/** Frees what was held before the machine restarted, a part at a time. Returns how much. */
export function reclaimBeforeBoot(network: NetworkRecords): number {
  const attachments = network.attachments.beforeBoot(WAKE_LIMIT);
  for (const { id } of attachments) releaseAttachment(network, id, 0);
  const found = network.addresses.foundBeforeBoot(network.boot, WAKE_LIMIT);
  for (const address of found) network.drop(address);
  return attachments.length + found.length;
}
