/**
 * The verbs of the IPAM plugin (SPEC, "Delegated plugins (IPAM)").
 *
 * The network plugin calls the same functions in its own process when the configuration
 * names our IPAM; for any other it runs the program (`ipam_delegate.ts`).
 */

import { type IpAddress } from "../ip/address.ts";
import { parsePrefix } from "../ip/prefix.ts";
import { allocate } from "../ipam/allocate.ts";
import { AddressCheckError, ExhaustedError } from "../ipam/errors.ts";
import { release, releaseStale } from "../ipam/release.ts";
import { parseResolvConf } from "../ipam/resolv_conf.ts";
import { hasRoom, poolUsage } from "../ipam/usage.ts";
import { writeObstacle } from "../netlink/file_access.ts";
import { type AttachmentKey } from "../store/attachments.ts";
import { StoreError } from "../store/errors.ts";
import { hasStore, probeStore, readStore, withStore } from "../store/open_store.ts";
import { systemClock } from "../sys/clock.ts";
import { HeadcniError } from "../sys/errors.ts";
import { denoFiles } from "../sys/files.ts";
import { isJsonObject, type JsonObject } from "../sys/json_reader.ts";
import { cryptoRandomBelow } from "../sys/random.ts";
import { type AttachmentCall, type PluginCall } from "./dispatch.ts";
import { NotReadyError } from "./errors.ts";
import { readCooldownMs, readIpamConfig } from "./ipam_config.ts";
import {
  type AttachmentRequest,
  attachmentRequest,
  factsOf,
  type IpamRequest,
  ipamRequest,
} from "./ipam_request.ts";
import { type CniResult, defined, type ResultDns } from "./result.ts";
import { encodeResult } from "./result_encode.ts";
import { storeOptions } from "./store_options.ts";
import { isValid, readValidAttachments } from "./valid_attachments.ts";

/** ADD: one address of each range set, durable before it is told. */
export async function add(call: AttachmentCall): Promise<unknown> {
  return encodeResult(await addAddresses(attachmentRequest(call)), call.version);
}

/**
 * What ADD gives, before it takes the form of a version. `record` is kept with the attachment,
 * in the same transaction.
 */
export async function addAddresses(
  asked: AttachmentRequest,
  record?: string,
): Promise<CniResult> {
  const config = readIpamConfig(asked);
  // Read before anything is changed: a missing file is an error.
  const dns = config.resolvConf === undefined ? {} : readDns(config.resolvConf);
  const request = {
    ...config,
    network: asked.network,
    key: keyOf(asked),
    facts: { ...factsOf(asked), record },
  };
  const ports = { random: cryptoRandomBelow, now: systemClock.now };
  const addresses = await withStore(
    storeOptions(asked),
    (store) => allocate(store, request, ports),
  );
  return {
    interfaces: [],
    ips: addresses.map(({ address, gateway }) => ({
      address: address.toString(),
      gateway: gateway.toString(),
    })),
    routes: config.routes,
    dns,
  };
}

/** DEL: success whenever nothing is held afterwards, as often as it is called. */
export async function del(call: AttachmentCall): Promise<void> {
  await releaseAddresses(attachmentRequest(call));
}

/** Releases what the attachment holds. */
export async function releaseAddresses(asked: AttachmentRequest): Promise<void> {
  const options = storeOptions(asked);
  if (!hasStore(options)) return;
  const request = {
    network: asked.network,
    key: keyOf(asked),
    cooldownMs: readCooldownMs(asked.config),
    known: previousAddresses(asked.config),
  };
  await withStore(options, (store) => release(store, request));
}

/** CHECK: the attachment holds what ADD gave it. */
export function check(call: AttachmentCall): void {
  checkAddresses(attachmentRequest(call));
}

/** Compares what the store says with the result of ADD. @throws {AddressCheckError} */
export function checkAddresses(asked: AttachmentRequest): void {
  const { network: name, config: raw, containerId, ifname } = asked;
  const previous = previousAddresses(raw);
  const held = readStore(storeOptions(asked), (store) => {
    const network = store.network(name);
    const attachment = network?.attachments.find(asked);
    if (attachment !== undefined) return network?.addresses.ofAttachment(attachment.id);
    // The store was made anew since: it knows the addresses, not whose they are.
    const found = previous.filter((one) => network?.addresses.find(one)?.kind === "found");
    return found.length > 0 ? found : undefined;
  });
  const subject = `addresses of ${containerId} ${ifname} in network ${name}`;
  if (held === undefined) {
    throw new AddressCheckError({
      operation: "check",
      subject,
      reason: "the store knows of none",
      remedy: "Start the pod anew; headcni ipam check shows what else differs",
    });
  }
  const lost = held.filter((address) => !previous.some((other) => other.equals(address)));
  if (raw.prevResult === undefined || lost.length === 0) return;
  const has = previous.length === 0 ? "none" : previous.join(", ");
  throw new AddressCheckError({
    operation: "check",
    subject,
    reason: `the store says ${lost.join(", ")}, the result of ADD has ${has}`,
  });
}

/** So many attachments are released per turn at the lock. */
const GC_BATCH = 500;

/** GC: releases what the runtime does not list. A missing list lists nothing. */
export async function gc(call: PluginCall): Promise<void> {
  await collectAddresses(ipamRequest(call));
}

/** Releases what the list of valid attachments in the configuration does not name. */
export async function collectAddresses(asked: IpamRequest): Promise<void> {
  const options = storeOptions(asked);
  if (!hasStore(options)) return;
  const valid = readValidAttachments(asked.config);
  const request = {
    network: asked.network,
    cooldownMs: readCooldownMs(asked.config),
    limit: GC_BATCH,
  };
  for (let released = GC_BATCH; released === GC_BATCH;) {
    released = await withStore(options, (store) => {
      return releaseStale(store, request, (one) => !isValid(valid, one)).length;
    });
  }
}

/** STATUS: whether an ADD would succeed now. Changes nothing, makes nothing. */
export function status(call: PluginCall): void {
  checkReadiness(ipamRequest(call));
}

/** Throws unless there are addresses to give. @throws {NotReadyError} */
export function checkReadiness(asked: IpamRequest): void {
  const { sets } = readIpamConfig({ ...asked, args: new Map() });
  const options = storeOptions(asked);
  try {
    probeStore({ ...options, writeObstacle });
    readStore(options, (store) => {
      const network = store.network(asked.network);
      const full = network && sets.find((set) => !hasRoom(network, set));
      if (!network || !full) return;
      throw new ExhaustedError(network.name, full.toString(), poolUsage(network, full));
    });
  } catch (error) {
    // A damaged store is repaired by the next ADD.
    if (error instanceof StoreError && error.kind === "Corrupt") return;
    if (!(error instanceof HeadcniError)) throw error;
    const remedy = error.remedy === undefined ? {} : { remedy: error.remedy };
    throw new NotReadyError({ operation: "serve ADD", reason: error.message, ...remedy });
  }
}

function keyOf({ containerId, ifname }: AttachmentRequest): AttachmentKey {
  return { containerId, ifname };
}

function readDns(path: string): ResultDns {
  const { nameservers, domain, search, options } = parseResolvConf(denoFiles.readText(path));
  const some = (list: readonly string[]) => list.length === 0 ? undefined : list;
  return defined({
    nameservers: some(nameservers),
    domain,
    search: some(search),
    options: some(options),
  });
}

/** The addresses of `prevResult`, of any version; what cannot be read is left out. */
function previousAddresses(config: JsonObject): IpAddress[] {
  const { prevResult } = config;
  if (!isJsonObject(prevResult)) return [];
  const { ips, ip4, ip6 } = prevResult;
  const texts = [
    ...(Array.isArray(ips) ? ips.filter(isJsonObject).map(({ address }) => address) : []),
    ...[ip4, ip6].filter(isJsonObject).map(({ ip }) => ip),
  ];
  return texts.flatMap((text) => {
    try {
      return typeof text === "string" ? [parsePrefix(text).address] : [];
    } catch {
      return [];
    }
  });
}
