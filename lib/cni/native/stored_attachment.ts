/** What the store remembers of one attachment. */

import { type PodRules } from "../../firewall/pod_rules.ts";
import { readStore } from "../../store/open_store.ts";
import { type AttachmentRequest } from "../ipam_request.ts";
import { storeOptions } from "../store_options.ts";
import { type AttachmentRecord, decodeRecord } from "./record.ts";
import { siblingsIn } from "./stored_pods.ts";

/** What is known of an attachment. */
export interface StoredAttachment {
  /** `undefined` when the store knows nothing of it. */
  readonly record: AttachmentRecord | undefined;
  /** Other interfaces of the container, if this one may have host ports they asked for, too. */
  readonly heirs: readonly PodRules[];
  /** Whether this data path made it; addresses alone may have been taken over from others. */
  readonly isOwn: boolean;
  /** Whether a chain of plugins made it (`chain/`). */
  readonly hasChain: boolean;
}

const UNKNOWN: StoredAttachment = { record: undefined, heirs: [], isOwn: false, hasChain: false };

/** What the store knows of the attachment. */
export function storedAttachment(request: AttachmentRequest): StoredAttachment {
  return readStore(storeOptions(request), (store): StoredAttachment => {
    const network = store.network(request.network);
    if (network === undefined) return UNKNOWN;
    const hasChain = network.chains.has(request);
    const attachment = network.attachments.find(request);
    if (attachment === undefined) return { ...UNKNOWN, hasChain };
    const record = decodeRecord(attachment.record, network.addresses.ofAttachment(attachment.id));
    return {
      record,
      heirs: record.hostPorts.length === 0 ? [] : siblingsIn(store, request),
      isOwn: attachment.record !== undefined,
      hasChain,
    };
  }) ?? UNKNOWN;
}
