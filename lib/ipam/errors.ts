/** What can go wrong with addresses. The CNI numbers are given in `lib/cni/error_code.ts`. */

import { type IpAddress } from "../ip/address.ts";
import { HeadcniError } from "../sys/errors.ts";

/** How full a pool is. */
export interface PoolUsage {
  /** Addresses that may be given out at all. */
  readonly size: bigint;
  readonly held: number;
  readonly resting: number;
}

/** No address of a pool is left. Trying again does not help until something is released. */
export class ExhaustedError extends HeadcniError {
  override readonly name = "ExhaustedError";
  readonly usage: PoolUsage;

  constructor(network: string, pool: string, usage: PoolUsage) {
    super({
      operation: "allocate address",
      subject: `in network ${network}`,
      reason: `pool ${pool} is exhausted: ${usage.held} of ${usage.size} addresses are held`,
      remedy: "Find leaked ones with headcni ipam check, or configure a larger range",
    });
    this.usage = usage;
  }
}

/** The address somebody asked for cannot be given to them. */
export class AddressUnavailableError extends HeadcniError {
  override readonly name = "AddressUnavailableError";

  constructor(address: IpAddress, reason: string) {
    super({ operation: "allocate requested address", subject: address.toString(), reason });
  }
}

/** The attachment holds addresses that do not fit what is asked for now. */
export class AttachmentConflictError extends HeadcniError {
  override readonly name = "AttachmentConflictError";
}

/** What CHECK found differs from what ADD promised. */
export class AddressCheckError extends HeadcniError {
  override readonly name = "AddressCheckError";
}
