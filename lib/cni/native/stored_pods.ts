/** The pods of the node as the store knows them: what the packet filter should hold. */

import { type PodRules } from "../../firewall/pod_rules.ts";
import { type Attachment } from "../../store/attachments.ts";
import { type NetworkRecords } from "../../store/network.ts";
import { readStore, type StoreOptions } from "../../store/open_store.ts";
import { type Store } from "../../store/store.ts";
import { type IpamRequest } from "../ipam_request.ts";
import { storeOptions } from "../store_options.ts";
import { type AttachmentKey, hostInterfaceName } from "./host_interface.ts";
import { decodeRecord } from "./record.ts";

/** All attachments of this boot, of all networks, that this plugin made, oldest first. */
export function storedPods(request: IpamRequest): PodRules[] {
  return podsOf(storeOptions(request));
}

/** The same, of the store that `options` name. */
export function podsOf(options: StoreOptions): PodRules[] {
  return readStore(
    options,
    (store) => rulesOf(store, (network) => network.attachments.list()),
  ) ?? [];
}

/** The other interfaces of the container of `key`, oldest first. */
export function storedSiblings(request: IpamRequest, key: AttachmentKey): PodRules[] {
  return readStore(storeOptions(request), (store) => siblingsIn(store, key)) ?? [];
}

/** {@linkcode storedSiblings} in a store that is open. */
export function siblingsIn(store: Store, key: AttachmentKey): PodRules[] {
  const own = hostInterfaceName(key);
  return rulesOf(store, (network) => network.attachments.ofContainer(key.containerId))
    .filter(({ hostInterface }) => hostInterface !== own);
}

function rulesOf(
  store: Store,
  choose: (network: NetworkRecords) => readonly Attachment[],
): PodRules[] {
  const found = store.networks().flatMap((name) => {
    const network = store.network(name);
    return network === undefined
      ? []
      : choose(network).map((attachment) => ({ network, attachment }));
  });
  return found.filter(({ attachment }) => attachment.sinceBoot && attachment.record !== undefined)
    .toSorted((one, other) => one.attachment.id - other.attachment.id)
    .map(({ network, attachment }) => toRules(network, attachment));
}

function toRules(network: NetworkRecords, attachment: Attachment): PodRules {
  const { containerId, record } = attachment;
  const addresses = network.addresses.ofAttachment(attachment.id);
  const { delegate: _, networkPolicy: __, ...rules } = decodeRecord(record, addresses);
  const hostInterface = hostInterfaceName({ ...attachment, network: network.name });
  return { ...rules, hostInterface, container: containerId };
}
