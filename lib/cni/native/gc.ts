/**
 * GC: what the runtime does not list any more is removed.
 *
 * By the store: every attachment it knows and the list does not. And by the kernel: host
 * interfaces of this network, told by their alias, that neither the list nor the store names.
 */

import { listLinks } from "../../netlink/link.ts";
import { readStore } from "../../store/open_store.ts";
import { addressSource } from "../choose_address_source.ts";
import { type PluginCall } from "../dispatch.ts";
import { RemoveError } from "../errors.ts";
import { type IpamRequest, ipamRequest } from "../ipam_request.ts";
import { readPluginConfig } from "../plugin_config.ts";
import { storeOptions } from "../store_options.ts";
import { isValid, readValidAttachments, type ValidAttachments } from "../valid_attachments.ts";
import { aliasNetwork, HOST_INTERFACE_PREFIX, hostInterfaceName } from "./host_interface.ts";
import { Node } from "./node.ts";
import { type AttachmentRecord, decodeRecord } from "./record.ts";
import { type Remains, removeAttachment } from "./remove.ts";
import { siblingsIn } from "./stored_pods.ts";

/** GC of what this data path made. @throws {RemoveError} after everything was tried. */
export async function gc(call: PluginCall): Promise<void> {
  const config = readPluginConfig(call.config);
  const request: IpamRequest = {
    ...ipamRequest(call),
    config: { ...call.config.raw, ipam: config.ipam },
  };
  const valid = readValidAttachments(call.config.raw);
  using node = new Node();
  const failures: string[] = [];
  for (const remains of staleRemains(request, valid, node)) {
    try {
      await removeAttachment(node, remains);
    } catch (error) {
      if (!(error instanceof RemoveError)) throw error;
      failures.push(error.message);
    }
  }
  if (failures.length > 0) {
    // Their addresses stay where they are: whoever got one now would share it.
    throw new RemoveError({
      operation: "collect garbage",
      subject: `of network ${request.network}`,
      reason: failures.join("; "),
      remedy: "Repeat the GC",
    });
  }
  if (config.ipam !== undefined) await addressSource(config.ipam).collect(request);
}

function staleRemains(request: IpamRequest, valid: ValidAttachments, node: Node): Remains[] {
  const { network } = request;
  const known = storedAttachments(request);
  const stale = known.filter(({ key }) => !isValid(valid, key));
  const kept = new Set([
    ...known.map(({ hostInterface }) => hostInterface),
    ...valid.map((key) => hostInterfaceName({ ...key, network })),
  ]);
  const orphans = listLinks(node.route, { kind: "veth" }).filter(({ name, alias }) =>
    name.startsWith(HOST_INTERFACE_PREFIX) && aliasNetwork(alias) === network && !kept.has(name)
  );
  return [
    ...stale,
    ...orphans.map(({ name }) => ({ hostInterface: name, network, record: undefined })),
  ];
}

interface StoredRemains extends Remains {
  readonly key: { readonly containerId: string; readonly ifname: string };
  readonly record: AttachmentRecord;
}

function storedAttachments(request: IpamRequest): StoredRemains[] {
  return readStore(storeOptions(request), (store) => {
    const network = store.network(request.network);
    return network?.attachments.list().map((attachment) => {
      const key = { ...attachment, network: request.network };
      const record = decodeRecord(
        attachment.record,
        network.addresses.ofAttachment(attachment.id),
      );
      return {
        key,
        network: request.network,
        hostInterface: hostInterfaceName(key),
        record,
        heirs: record.hostPorts.length === 0 ? [] : siblingsIn(store, key),
      };
    });
  }) ?? [];
}
