/** Where the addresses of a network come from. */

import { type AddressSource } from "./address_source.ts";
import { delegatedSource } from "./ipam_delegated.ts";
import * as own from "./ipam_verbs.ts";
import { isOwnIpam, type PluginConfig } from "./plugin_config.ts";

/** The source a configuration names. */
export function addressSource(ipam: NonNullable<PluginConfig["ipam"]>): AddressSource {
  if (isOwnIpam(ipam.type)) {
    return {
      delegate: undefined,
      add: own.addAddresses,
      release: own.releaseAddresses,
      check: own.checkAddresses,
      collect: own.collectAddresses,
      status: own.checkReadiness,
    };
  }
  return delegatedSource(ipam.type);
}
