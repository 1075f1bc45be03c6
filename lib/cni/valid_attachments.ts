/** The list GC gets of what is still in use (SPEC, "GC"). */

import { isJsonObject, type JsonObject } from "./json_reader.ts";

/** What names an attachment of the network. */
export interface ValidAttachment {
  readonly containerId: string;
  readonly ifname: string;
}

/** The attachments in use. */
export type ValidAttachments = readonly ValidAttachment[];

/**
 * Reads the list; a missing one lists nothing, as `cnitool gc` calls it.
 *
 * `cni.dev/attachments` is the spelling of the first text of version 1.1.0.
 */
export function readValidAttachments(config: JsonObject): ValidAttachments {
  const list = config["cni.dev/valid-attachments"] ?? config["cni.dev/attachments"];
  return (Array.isArray(list) ? list : []).filter(isJsonObject).map((entry) => ({
    containerId: String(entry.containerID),
    ifname: String(entry.ifname),
  }));
}

/** Whether `attachment` is in use. */
export function isValid(valid: ValidAttachments, attachment: ValidAttachment): boolean {
  return valid.some(({ containerId, ifname }) =>
    containerId === attachment.containerId && ifname === attachment.ifname
  );
}
