/**
 * DEL: an attachment ends. Success whenever nothing of it is left, however often it is called
 * and whatever is gone already: the namespace, the record, the previous result, the daemon.
 */

import { failpoint } from "../../sys/failpoint.ts";
import { denoFiles } from "../../sys/files.ts";
import { addressSource } from "../address_source.ts";
import { type AttachmentCall } from "../dispatch.ts";
import { flannelDirectory } from "../flannel_directory.ts";
import { type AttachmentRequest, attachmentRequest } from "../ipam_request.ts";
import { isJsonObject } from "../json_reader.ts";
import { findContainer } from "./container.ts";
import { hostInterfaceName } from "./host_interface.ts";
import { Node } from "./node.ts";
import { removeAttachment } from "./remove.ts";
import { type StoredAttachment, storedAttachment } from "./stored_attachment.ts";

/** Carries out DEL. */
export async function del(call: AttachmentCall): Promise<void> {
  const request = attachmentRequest(call);
  const stored = storedAttachment(request);
  if (isMadeByOthers(request, stored)) {
    const { delOthers } = await import("../chain/run_del.ts");
    if (await delOthers(call)) return;
  }
  await delNative(call, stored);
}

/** DEL of what this data path made. */
export async function delNative(
  call: AttachmentCall,
  stored: StoredAttachment = storedAttachment(attachmentRequest(call)),
): Promise<void> {
  const request = attachmentRequest(call);
  const { record } = stored;
  using container = findContainer(call.parameters);
  using node = new Node();
  removeAttachment(node, { hostInterface: hostInterfaceName(request), record, container });
  failpoint("del.removed");
  const type = record?.delegate ?? ipamType(request);
  if (type !== undefined) await (await addressSource({ type })).release(request);
}

/**
 * Whether the attachment is of a time when the configuration named other plugins, or flannel's.
 * Whoever made it has to delete it.
 */
function isMadeByOthers(
  request: AttachmentRequest,
  { isOwn, hasChain }: StoredAttachment,
): boolean {
  if (hasChain || isOwn) return hasChain;
  const saved = `${flannelDirectory(request.config)}/${request.containerId}`;
  return denoFiles.stat(saved)?.kind === "file";
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
