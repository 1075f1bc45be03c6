/** What the store remembers of one attachment. */

import { readStore } from "../../store/open_store.ts";
import { type AttachmentRequest } from "../ipam_request.ts";
import { storeOptions } from "../store_options.ts";
import { type AttachmentRecord, decodeRecord } from "./record.ts";

/** What is known of an attachment. */
export interface StoredAttachment {
  /** `undefined` when the store knows nothing of it. */
  readonly record: AttachmentRecord | undefined;
  /** Whether this data path made it; addresses alone may have been taken over from others. */
  readonly isOwn: boolean;
  /** Whether a chain of plugins made it (`chain/`). */
  readonly hasChain: boolean;
}

/** What the store knows of the attachment. */
export function storedAttachment(request: AttachmentRequest): StoredAttachment {
  return readStore(storeOptions(request), (store) => {
    const network = store.network(request.network);
    const attachment = network?.attachments.find(request);
    return {
      record: network === undefined || attachment === undefined
        ? undefined
        : decodeRecord(attachment.record, network.addresses.ofAttachment(attachment.id)),
      isOwn: attachment?.record !== undefined,
      hasChain: network?.chains.has(request) ?? false,
    };
  }) ?? { record: undefined, isOwn: false, hasChain: false };
}
