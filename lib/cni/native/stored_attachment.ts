/** What the store remembers of one attachment. */

import { readStore } from "../../store/open_store.ts";
import { type AttachmentRequest } from "../ipam_request.ts";
import { storeOptions } from "../store_options.ts";
import { type AttachmentRecord, decodeRecord } from "./record.ts";

/** The record of the attachment; `undefined` when the store knows nothing of it. */
export function storedAttachment(request: AttachmentRequest): AttachmentRecord | undefined {
  return readStore(storeOptions(request), (store) => {
    const network = store.network(request.network);
    const attachment = network?.attachments.find(request);
    if (network === undefined || attachment === undefined) return undefined;
    return decodeRecord(attachment.record, network.addresses.ofAttachment(attachment.id));
  });
}
