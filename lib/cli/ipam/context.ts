/** What the commands of `headcni ipam` share: the store, and words for what is in it. */

import { type IpAddress, parseAddress } from "../../ip/address.ts";
import { AddressError } from "../../ip/errors.ts";
import { type InventoryEntry } from "../../ipam/inventory.ts";
import { dataDirectory } from "../../store/location.ts";
import { type StoreOptions } from "../../store/open_store.ts";
import { type Invocation, type Output } from "../command.ts";
import { UsageError } from "../usage_error.ts";

/** How to open the store that the command line means. */
export function storeOptions(invocation: Invocation, output: Output): StoreOptions {
  return {
    directory: dataDirectory(invocation.value("data-dir"), output.env),
    observe: async () => (await import("../../ipam/observe.ts")).observedAddresses(),
    onRebuild: ({ kept, found }, cause) => {
      const aside = kept === undefined ? "" : `, the damaged file is ${kept}`;
      output.stderr.write(`${cause.message}; made anew with ${found} addresses in use${aside}\n`);
    },
  };
}

/** The value of a flag that the command cannot do without. @throws {UsageError} */
export function required(invocation: Invocation, flag: string): string {
  const value = invocation.value(flag);
  if (value !== undefined) return value;
  throw new UsageError(`--${flag}`, "it is missing");
}

/** `text` as an address. @throws {UsageError} */
export function addressOf(text: string): IpAddress {
  try {
    return parseAddress(text);
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    throw new UsageError(`address "${text}"`, error.reason);
  }
}

/** `text` as an address, `undefined` if it is none. */
export function addressIfAny(text: string): IpAddress | undefined {
  try {
    return parseAddress(text);
  } catch (error) {
    if (error instanceof AddressError) return undefined;
    throw error;
  }
}

/** An entry as JSON; the keys stay. */
export function entryObject(entry: InventoryEntry): Record<string, unknown> {
  const { network, address, state, attachment, note, restedMs } = entry;
  return {
    network,
    address: address.toString(),
    state,
    ...(attachment === undefined ? {} : {
      containerId: attachment.containerId,
      ifname: attachment.ifname,
      netns: attachment.netns,
      podNamespace: attachment.podNamespace,
      podName: attachment.podName,
      podUid: attachment.podUid,
      created: new Date(attachment.createdMs).toISOString(),
      sinceBoot: attachment.sinceBoot,
    }),
    ...(note === undefined ? {} : { note }),
    ...(restedMs === undefined ? {} : {
      // JSON has no infinity: rested since before the machine started.
      restedSeconds: Number.isFinite(restedMs) ? Math.round(restedMs / 1000) : null,
    }),
  };
}

/** `namespace/name` of the pod, or what else is known about the holder. */
export function holderText({ attachment, note, restedMs, state }: InventoryEntry): string {
  if (state === "resting") return restText(restedMs ?? 0);
  if (attachment === undefined) return note ?? "";
  if (attachment.podName === undefined) return "";
  return `${attachment.podNamespace ?? ""}/${attachment.podName}`;
}

function restText(restedMs: number): string {
  return Number.isFinite(restedMs) ? `for ${Math.round(restedMs / 1000)} s` : "since a restart";
}

/** Prints a value as JSON. */
export function printJson(output: Output, value: unknown): void {
  output.stdout.write(JSON.stringify(value, null, 2) + "\n");
}
