/**
 * Verbs of our own data path on a node where others made attachments of the same network: a chain
 * of plugins, when the configuration named them, or flannel's plugin. Whoever made an attachment
 * has to delete it.
 */

import { readStore } from "../../store/open_store.ts";
import { pathExists } from "../../sys/libc.ts";
import { type AttachmentCall, type PluginCall } from "../dispatch.ts";
import { ipamRequest } from "../ipam_request.ts";
import { del } from "../native/del.ts";
import { gc } from "../native/gc.ts";
import { type StoredAttachment } from "../native/stored_attachment.ts";
import { storeOptions } from "../store_options.ts";
import { flannelDirectory } from "./flannel_directory.ts";
import { delOthers } from "./run_del.ts";
import { gcChains } from "./run_gc.ts";

/** DEL of an attachment, whoever made it. */
export async function delAny(call: AttachmentCall): Promise<void> {
  await del(call, {
    takeOver: async (stored) => isMadeByOthers(call, stored) && await delOthers(call),
  });
}

function isMadeByOthers(
  { config, parameters }: AttachmentCall,
  { isOwn, hasChain }: StoredAttachment,
): boolean {
  if (hasChain || isOwn) return hasChain;
  return pathExists(`${flannelDirectory(config.raw)}/${parameters.containerId}`);
}

/** GC of a network, whoever made its attachments. @throws {RemoveError} */
export async function gcAny(call: PluginCall): Promise<void> {
  if (hasOthers(call)) await gcChains(call);
  await gc(call);
}

function hasOthers(call: PluginCall): boolean {
  const hasChains = readStore(
    storeOptions(ipamRequest(call)),
    (store) => store.network(call.config.name)?.chains.any(),
  );
  return hasChains === true || pathExists(flannelDirectory(call.config.raw));
}
