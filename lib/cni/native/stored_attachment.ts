/** What the store remembers of one attachment. */

import { type PodRules } from "../../firewall/pod_rules.ts";
import { readStore } from "../../store/open_store.ts";
import { type AttachmentRequest } from "../ipam_request.ts";
import { storeOptions } from "../store_options.ts";
import { type AttachmentRecord, decodeRecord } from "./record.ts";
import { siblingsIn } from "./stored_pods.ts";

/** An attachment, and what else its container has. */
export interface StoredAttachment {
  readonly record: AttachmentRecord;
  /** Other interfaces of the container, if this one may have host ports they asked for, too. */
  readonly heirs: readonly PodRules[];
}

/** The attachment; `undefined` when the store knows nothing of it. */
export function storedAttachment(request: AttachmentRequest): StoredAttachment | undefined {
  return readStore(storeOptions(request), (store) => {
    const network = store.network(request.network);
    const attachment = network?.attachments.find(request);
    if (network === undefined || attachment === undefined) return undefined;
    const record = decodeRecord(attachment.record, network.addresses.ofAttachment(attachment.id));
    return { record, heirs: record.hostPorts.length === 0 ? [] : siblingsIn(store, request) };
  });
}
