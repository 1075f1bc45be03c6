/**
 * DEL: an attachment ends. Success whenever nothing of it is left, however often it is called
 * and whatever is gone already: the namespace, the record, the previous result, the daemon.
 */

import { failpoint } from "../../sys/failpoint.ts";
import { addressSource } from "../choose_address_source.ts";
import { type AttachmentCall } from "../dispatch.ts";
import { type AttachmentRequest, attachmentRequest } from "../ipam_request.ts";
import { isJsonObject } from "../../sys/json_reader.ts";
import { findContainer } from "./container.ts";
import { hostInterfaceName } from "./host_interface.ts";
import { Node } from "./node.ts";
import { removeAttachment } from "./remove.ts";
import { type StoredAttachment, storedAttachment } from "./stored_attachment.ts";

/** Options of {@linkcode del}. */
export interface DelOptions {
  /** Asked when the store was read: whether somebody else has deleted the attachment. */
  readonly takeOver?: (stored: StoredAttachment) => boolean | Promise<boolean>;
}

/** Carries out DEL. */
export async function del(call: AttachmentCall, options: DelOptions = {}): Promise<void> {
  const request = attachmentRequest(call);
  const stored = storedAttachment(request);
  if (await options.takeOver?.(stored)) return;
  const { record, heirs } = stored;
  using node = new Node();
  using container = findContainer(call.parameters);
  call.notes.addresses = record?.addresses.map(String) ?? [];
  call.notes.mark("config");
  const { network } = request;
  const hostInterface = hostInterfaceName(request);
  await removeAttachment(node, { hostInterface, network, record, heirs, container });
  failpoint("del.removed");
  call.notes.mark("remove");
  const type = record?.delegate ?? ipamType(request);
  if (type !== undefined) await addressSource({ type }).release(request);
  call.notes.mark("release");
}

/**
 * The `type` of the configuration's IPAM. Not `readPluginConfig`: a DEL must not fail because
 * some other key was edited since the ADD.
 */
function ipamType({ config }: AttachmentRequest): string | undefined {
  const { ipam, pod_cidr } = config;
  if (isJsonObject(ipam) && typeof ipam.type === "string") return ipam.type;
  return pod_cidr === undefined ? undefined : "headcni-ipam";
}
