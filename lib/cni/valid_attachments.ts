/** The list GC gets of what is still in use (SPEC, "GC"). */

import { type JsonObject, JsonReader } from "../sys/json_reader.ts";

/** What names an attachment of the network. */
export interface ValidAttachment {
  readonly containerId: string;
  readonly ifname: string;
}

/** The attachments in use. */
export type ValidAttachments = readonly ValidAttachment[];

/** `cni.dev/attachments` is the spelling of the first text of version 1.1.0. */
const KEYS = ["cni.dev/valid-attachments", "cni.dev/attachments"] as const;

/**
 * Reads the list; a missing one lists nothing, as `cnitool gc` calls it.
 *
 * Strict otherwise: what is not on the list is deleted, so a list that cannot be read must not
 * be taken for an empty one.
 *
 * @throws {ConfigError} if there is something else than a list of attachments.
 */
export function readValidAttachments(config: JsonObject): ValidAttachments {
  const reader = new JsonReader(config);
  const key = KEYS.find((key) => reader.value(key) !== undefined);
  const entries = key === undefined ? [] : reader.objects(key) ?? [];
  const valid = entries.map((entry) => {
    const [containerId, ifname] = ["containerID", "ifname"].map((name) => {
      const text = entry.string(name);
      if (text === undefined && entry.value(name) === undefined) entry.problem(name, "is missing");
      return text ?? "";
    });
    return { containerId: containerId ?? "", ifname: ifname ?? "" };
  });
  reader.finish();
  return valid;
}

/** Whether `attachment` is in use. */
export function isValid(valid: ValidAttachments, attachment: ValidAttachment): boolean {
  return valid.some(({ containerId, ifname }) =>
    containerId === attachment.containerId && ifname === attachment.ifname
  );
}
