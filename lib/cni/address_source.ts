/**
 * Where the addresses of a network come from: our own IPAM, in this process, or another
 * program.
 */

import { isOwnIpam, type PluginConfig } from "./plugin_config.ts";
import { type AttachmentRequest, type IpamRequest } from "./ipam_request.ts";
import { type CniResult } from "./result.ts";

/** Gives addresses and takes them back. */
export interface AddressSource {
  /** The `type` of another program; `undefined` for our own. */
  readonly delegate: string | undefined;
  /** Addresses for an attachment; `record` is remembered before anything else happens. */
  add(request: AttachmentRequest, record: string): Promise<CniResult>;
  release(request: AttachmentRequest): Promise<void>;
  check(request: AttachmentRequest): void | Promise<void>;
  collect(request: IpamRequest): Promise<void>;
  /** Throws unless there are addresses to give. */
  status(request: IpamRequest): void | Promise<void>;
}

/** The source a configuration names. */
export async function addressSource(
  ipam: NonNullable<PluginConfig["ipam"]>,
): Promise<AddressSource> {
  if (isOwnIpam(ipam.type)) {
    const own = await import("./ipam_verbs.ts");
    return {
      delegate: undefined,
      add: own.addAddresses,
      release: own.releaseAddresses,
      check: own.checkAddresses,
      collect: own.collectAddresses,
      status: own.checkReadiness,
    };
  }
  const { delegatedSource } = await import("./ipam_delegated.ts");
  return delegatedSource(ipam.type);
}
