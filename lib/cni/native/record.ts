/**
 * What is written down about an attachment before it is made, so that it can be unmade.
 *
 * DEL goes by this record, not by the configuration it is called with: that may have been
 * edited since, and some runtimes leave `runtimeConfig` out of a DEL.
 */

import { type IpAddress, parseAddress } from "../../ip/address.ts";
import { type HostPort, type PodRules } from "../../firewall/pod_rules.ts";
import { isJsonObject } from "../../sys/json_reader.ts";

/** A record; the host interface's name follows from the attachment's key. */
export interface AttachmentRecord extends Omit<PodRules, "hostInterface"> {
  /** The `type` of another program's IPAM; `undefined` when the addresses are our own. */
  readonly delegate: string | undefined;
  /** Whether the configuration wants network policy for it; the daemon reads this. */
  readonly networkPolicy: boolean;
}

/** The record as the store keeps it. Addresses of our own IPAM are in their own table. */
export function encodeRecord(record: AttachmentRecord): string {
  const { addresses, hostPorts, ...rest } = record;
  return JSON.stringify({
    ...rest,
    ...(record.delegate === undefined ? {} : { addresses: addresses.map(String) }),
    hostPorts: hostPorts.map(({ hostIp, ...port }) => ({
      ...port,
      ...(hostIp === undefined ? {} : { hostIp: hostIp.toString() }),
    })),
  });
}

/** What is assumed of an attachment whose record is lost or unreadable: nothing to undo but it. */
const NOTHING: AttachmentRecord = {
  addresses: [],
  masquerade: true,
  antiSpoof: true,
  hostPorts: [],
  delegate: undefined,
  networkPolicy: false,
};

/** Reads a record; `addresses` are those the store holds. A damaged one must not stop a DEL. */
export function decodeRecord(
  text: string | undefined,
  addresses: readonly IpAddress[],
): AttachmentRecord {
  try {
    const value: unknown = JSON.parse(text ?? "null");
    if (!isJsonObject(value)) return { ...NOTHING, addresses };
    const stored = Array.isArray(value.addresses) ? value.addresses : [];
    return {
      addresses: [...addresses, ...stored.map((address) => parseAddress(String(address)))],
      masquerade: value.masquerade !== false,
      antiSpoof: value.antiSpoof !== false,
      hostPorts: Array.isArray(value.hostPorts) ? value.hostPorts.map(decodeHostPort) : [],
      delegate: typeof value.delegate === "string" ? value.delegate : undefined,
      networkPolicy: value.networkPolicy === true,
    };
  } catch {
    return { ...NOTHING, addresses };
  }
}

/** Our own JSON: its shape is what {@linkcode encodeRecord} wrote. */
function decodeHostPort(value: Omit<HostPort, "hostIp"> & { hostIp?: string }): HostPort {
  const { hostIp, ...port } = value;
  return hostIp === undefined ? port : { ...port, hostIp: parseAddress(hostIp) };
}
