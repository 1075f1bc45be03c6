/**
 * The verbs of the IPAM plugin (SPEC, "Delegated plugins (IPAM)").
 *
 * The network plugin calls the same functions in its own process when the configuration
 * names our IPAM; for any other it runs the program (`ipam_delegate.ts`).
 */

import { type IpAddress } from "../ip/address.ts";
import { parsePrefix } from "../ip/prefix.ts";
import { allocate } from "../ipam/allocate.ts";
import { isObject, type JsonObject, valueOf } from "../ipam/config_value.ts";
import { AddressCheckError, ExhaustedError } from "../ipam/errors.ts";
import { release, releaseStale } from "../ipam/release.ts";
import { parseResolvConf } from "../ipam/resolv_conf.ts";
import { hasRoom, poolUsage } from "../ipam/usage.ts";
import { type AttachmentFacts } from "../store/attachments.ts";
import { type Rebuild } from "../store/create_store.ts";
import { StoreError } from "../store/errors.ts";
import {
  hasStore,
  probeStore,
  readStore,
  type StoreOptions,
  withStore,
} from "../store/open_store.ts";
import { systemClock } from "../sys/clock.ts";
import { HeadcniError } from "../sys/errors.ts";
import { denoFiles } from "../sys/files.ts";
import { cryptoRandomBelow } from "../sys/random.ts";
import { parseCniArgs, podOf } from "./cni_args.ts";
import { type PluginCall } from "./dispatch.ts";
import { type CallParameters, readParameters } from "./environment.ts";
import { NotReadyError } from "./errors.ts";
import { configuredDirectory, readCooldownMs, readIpamConfig } from "./ipam_config.ts";
import { type CniResult, defined, type ResultDns } from "./result.ts";
import { encodeResult } from "./result_encode.ts";

/** ADD: one address of each range set, durable before it is told. */
export async function add(call: PluginCall): Promise<unknown> {
  return encodeResult(await addAddresses(call), call.version);
}

/** What ADD gives, before it takes the form of a version. */
export async function addAddresses(call: PluginCall): Promise<CniResult> {
  const parameters = readParameters("ADD", call.io.env);
  const source = { config: call.config.raw, version: call.version, args: parameters.args };
  const config = readIpamConfig(source);
  // Read before anything is changed: a missing file is an error.
  const dns = config.resolvConf === undefined ? {} : readDns(config.resolvConf);
  const request = {
    ...config,
    network: call.config.name,
    key: parameters,
    facts: factsOf(parameters),
  };
  const ports = { random: cryptoRandomBelow, now: systemClock.now };
  const addresses = await withStore(
    storeOptions(call),
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
export async function del(call: PluginCall): Promise<void> {
  const key = readParameters("DEL", call.io.env);
  const options = storeOptions(call);
  if (!hasStore(options)) return;
  const request = {
    network: call.config.name,
    key,
    cooldownMs: readCooldownMs(call.config.raw),
    known: previousAddresses(call.config.raw),
  };
  await withStore(options, (store) => release(store, request));
}

/** CHECK: the attachment holds what ADD gave it. */
export function check(call: PluginCall): void {
  const key = readParameters("CHECK", call.io.env);
  const { name, raw } = call.config;
  const previous = previousAddresses(raw);
  const held = readStore(storeOptions(call), (store) => {
    const network = store.network(name);
    const attachment = network?.attachments.find(key);
    if (attachment !== undefined) return network?.addresses.ofAttachment(attachment.id);
    // The store was made anew since: it knows the addresses, not whose they are.
    const found = previous.filter((one) => network?.addresses.find(one)?.kind === "found");
    return found.length > 0 ? found : undefined;
  });
  const subject = `addresses of ${key.containerId} ${key.ifname} in network ${name}`;
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
  const options = storeOptions(call);
  if (!hasStore(options)) return;
  const valid = validAttachments(call.config.raw);
  const request = {
    network: call.config.name,
    cooldownMs: readCooldownMs(call.config.raw),
    limit: GC_BATCH,
  };
  for (let released = GC_BATCH; released === GC_BATCH;) {
    released = await withStore(options, (store) => {
      const isStale = (one: { containerId: string; ifname: string }) => !valid.has(keyText(one));
      return releaseStale(store, request, isStale).length;
    });
  }
}

/** STATUS: whether an ADD would succeed now. Changes nothing, makes nothing. */
export function status(call: PluginCall): void {
  const { sets } = readIpamConfig({ config: call.config.raw, version: call.version, args: "" });
  const options = storeOptions(call);
  try {
    probeStore(options);
    readStore(options, (store) => {
      const network = store.network(call.config.name);
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

function factsOf({ netns, args }: CallParameters): AttachmentFacts {
  const pod = podOf(parseCniArgs(args));
  return { netns, podNamespace: pod?.namespace, podName: pod?.name, podUid: pod?.uid };
}

function storeOptions({ config, io }: PluginCall): StoreOptions {
  return {
    directory: configuredDirectory(config.raw, io.env),
    observe: async () => (await import("../ipam/observe.ts")).observedAddresses(),
    onRebuild: (rebuild, cause) => io.stderr.write(describeRebuild(rebuild, cause)),
    checkpoint: false,
  };
}

/** Loud, since it is rare: runtimes copy it into their log. */
function describeRebuild({ kept, found }: Rebuild, cause: Error): string {
  return `headcni-ipam: ${cause.message}; made anew with ${found} addresses the kernel uses` +
    (kept === undefined ? "\n" : `, the damaged file is ${kept}\n`);
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
  const previous = valueOf(config, "prevResult");
  if (!isObject(previous)) return [];
  const ips = valueOf(previous, "ips");
  const texts = [
    ...(Array.isArray(ips) ? ips.filter(isObject).map((ip) => valueOf(ip, "address")) : []),
    ...["ip4", "ip6"].map((key) => valueOf(previous, key)).filter(isObject).map((ip) => ip.ip),
  ];
  return texts.flatMap((text) => {
    try {
      return typeof text === "string" ? [parsePrefix(text).address] : [];
    } catch {
      return [];
    }
  });
}

/** `cni.dev/attachments` is the spelling of the first text of version 1.1.0. */
function validAttachments(config: JsonObject): ReadonlySet<string> {
  const list = config["cni.dev/valid-attachments"] ?? config["cni.dev/attachments"];
  const entries = Array.isArray(list) ? list.filter(isObject) : [];
  return new Set(entries.map((entry) =>
    keyText({
      containerId: String(valueOf(entry, "containerID")),
      ifname: String(valueOf(entry, "ifname")),
    })
  ));
}

function keyText({ containerId, ifname }: { containerId: string; ifname: string }): string {
  return `${containerId}/${ifname}`;
}
