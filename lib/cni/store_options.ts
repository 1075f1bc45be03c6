/** How a call of a plugin opens the store. */

import { observedAddresses } from "../ipam/observe.ts";
import { type Rebuild } from "../store/create_store.ts";
import { type StoreOptions } from "../store/open_store.ts";
import { configuredDirectory } from "./ipam_config.ts";
import { type IpamRequest } from "./ipam_request.ts";

/**
 * Of the time that is left, so much may be spent on waiting for others: then there is time to say
 * for whom, and to undo what was done.
 */
const PATIENCE = 0.95;

/** How the store of a request is opened. */
export function storeOptions({ config, io, leftMs }: IpamRequest): StoreOptions {
  return {
    patienceMs: Math.max(0, PATIENCE * leftMs()),
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
