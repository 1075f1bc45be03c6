/** `headcni ipam export`. */

import { inventory, inventoryPools } from "../../ipam/inventory.ts";
import { readStore } from "../../store/open_store.ts";
import { SCHEMA_VERSION } from "../../store/schema.ts";
import { type Invocation, type Output } from "../command.ts";
import { ExitCode } from "../exit_code.ts";
import { entryObject, printJson, storeOptions } from "./context.ts";

/** Prints everything; the keys stay. */
export function run(invocation: Invocation, output: Output): number {
  const network = invocation.value("network");
  const exported = readStore(storeOptions(invocation, output), (store) => ({
    schema: SCHEMA_VERSION,
    pools: inventoryPools(store, network).map(({ network, position, set }) => ({
      network,
      position,
      ranges: set.ranges.map(({ subnet, span, gateway }) => ({
        subnet,
        rangeStart: span.start,
        rangeEnd: span.end,
        gateway,
      })),
    })),
    addresses: inventory(store, network).map(entryObject),
  }));
  printJson(output, exported ?? { schema: SCHEMA_VERSION, pools: [], addresses: [] });
  return ExitCode.ok;
}
