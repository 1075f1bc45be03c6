/** How a call of a plugin opens the store. */

import { observedAddresses } from "../ipam/observe.ts";
import { type Rebuild } from "../store/create_store.ts";
import { type StoreOptions } from "../store/open_store.ts";
import { configuredDirectory } from "./ipam_config.ts";
import { type IpamRequest } from "./ipam_request.ts";

/** How the store of a request is opened. */
export function storeOptions({ config, io }: IpamRequest): StoreOptions {
  return {
    directory: configuredDirectory(config, io.env),
    observe: () => Promise.resolve(observedAddresses()),
    onRebuild: (rebuild, cause) => io.stderr.write(describeRebuild(rebuild, cause)),
    checkpoint: false,
  };
}

/** Loud, since it is rare: runtimes copy it into their log. */
function describeRebuild({ kept, found }: Rebuild, cause: Error): string {
  return `headcni-ipam: ${cause.message}; made anew with ${found} addresses the kernel uses` +
    (kept === undefined ? "\n" : `, the damaged file is ${kept}\n`);
}
