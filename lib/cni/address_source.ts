/** What gives addresses to attachments: our own IPAM, or another program. */

import { type AttachmentRequest, type IpamRequest } from "./ipam_request.ts";
import { type CniResult } from "./result.ts";

/** Gives addresses and takes them back. */
export interface AddressSource {
  /** The `type` of another program; `undefined` for our own. */
  readonly delegate: string | undefined;
  /** Addresses for an attachment; `record` is remembered before anything else happens. */
  add(request: AttachmentRequest, record: string): Promise<CniResult>;
  release(request: AttachmentRequest): Promise<void>;
  check(request: AttachmentRequest): void | Promise<void>;
  collect(request: IpamRequest): Promise<void>;
  /** Throws unless there are addresses to give. */
  status(request: IpamRequest): void | Promise<void>;
}
