/**
 * Addresses from another program's IPAM, for our own network plugin.
 *
 * The attachment is written down before the program runs: a kill at any moment leaves a record
 * by which DEL calls the same program again.
 */

import { parsePrefix } from "../ip/prefix.ts";
import { releaseAttachment } from "../ipam/release.ts";
import { withStore } from "../store/open_store.ts";
import { systemClock } from "../sys/clock.ts";
import { failpoint } from "../sys/failpoint.ts";
import { type AddressSource } from "./address_source.ts";
import { cniVariables, pluginDirectories } from "./environment.ts";
import { delegate, delegateAdd, type Delegation } from "./ipam_delegate.ts";
import { type AttachmentRequest, factsOf, type IpamRequest } from "./ipam_request.ts";
import { type JsonObject } from "../sys/json_reader.ts";
import { type CniResult } from "./result.ts";
import { storeOptions } from "./store_options.ts";

/** The IPAM program called `type`. */
export function delegatedSource(type: string): AddressSource {
  const delegation = ({ config, version, io }: IpamRequest): Delegation => ({
    type,
    path: pluginDirectories(io.env),
    env: cniVariables(io.env),
    config,
    version,
  });
  return {
    delegate: type,
    async add(request, record) {
      await remember(request, record);
      failpoint("add.remembered");
      try {
        const result = await delegateAdd(delegation(request));
        await remember(request, withAddresses(record, result));
        return result;
      } catch (error) {
        await forget(request);
        throw error;
      }
    },
    async release(request) {
      await delegate("DEL", delegation(request));
      failpoint("del.delegated");
      await forget(request);
    },
    check: (request) => delegate("CHECK", delegation(request)),
    collect: (request) => delegate("GC", delegation(request)),
    status: (request) => delegate("STATUS", delegation(request)),
  };
}

/** The record with the addresses the other program gave, which are in no table of ours. */
function withAddresses(record: string, { ips }: CniResult): string {
  const addresses = ips.map(({ address }) => parsePrefix(address).address.toString());
  return JSON.stringify({ ...JSON.parse(record) as JsonObject, addresses });
}

async function remember(request: AttachmentRequest, record: string): Promise<void> {
  await withStore(storeOptions(request), (store) =>
    store.transaction(() => {
      const { attachments } = store.ensureNetwork(request.network);
      const known = attachments.find(request);
      const facts = { ...factsOf(request), record };
      if (known === undefined) attachments.add(request, facts, systemClock.now());
      else attachments.renew(known.id, facts, systemClock.now());
    }));
}

async function forget(request: AttachmentRequest): Promise<void> {
  await withStore(storeOptions(request), (store) =>
    store.transaction(() => {
      const network = store.network(request.network);
      const known = network?.attachments.find(request);
      if (network !== undefined && known !== undefined) releaseAttachment(network, known.id, 0);
    }));
}
