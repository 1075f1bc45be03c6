/** The pods of the node as the store knows them: what the packet filter should hold. */

import { type PodRules } from "../../firewall/pod_rules.ts";
import { readStore, type StoreOptions } from "../../store/open_store.ts";
import { type IpamRequest } from "../ipam_request.ts";
import { storeOptions } from "../store_options.ts";
import { hostInterfaceName } from "./host_interface.ts";
import { decodeRecord } from "./record.ts";

/** All attachments of this boot, of all networks, that this plugin made. */
export function storedPods(request: IpamRequest): PodRules[] {
  return podsOf(storeOptions(request));
}

/** The same, of the store that `options` name. */
export function podsOf(options: StoreOptions): PodRules[] {
  return readStore(options, (store) =>
    store.networks().flatMap((name) => {
      const network = store.network(name);
      if (network === undefined) return [];
      return network.attachments.list().flatMap((attachment) => {
        if (!attachment.sinceBoot || attachment.record === undefined) return [];
        const addresses = network.addresses.ofAttachment(attachment.id);
        const { delegate: _, ...rules } = decodeRecord(attachment.record, addresses);
        return [{ ...rules, hostInterface: hostInterfaceName({ ...attachment, network: name }) }];
      });
    })) ?? [];
}
