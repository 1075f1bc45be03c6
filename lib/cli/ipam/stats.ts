/** `headcni ipam stats`. */

import { type InventoryPool, inventoryPools } from "../../ipam/inventory.ts";
import { readStore } from "../../store/open_store.ts";
import { type Invocation, type Output } from "../command.ts";
import { ExitCode } from "../exit_code.ts";
import { table } from "../table.ts";
import { printJson, storeOptions } from "./context.ts";

/** Prints how full each pool is, as it was configured last. */
export function run(invocation: Invocation, output: Output): number {
  const options = storeOptions(invocation, output);
  const pools = readStore(
    options,
    (store) => inventoryPools(store, invocation.value("network")).map(numbers),
  ) ?? [];
  if (invocation.has("json")) {
    printJson(output, pools);
    return ExitCode.ok;
  }
  const rows = pools.map(({ network, pool, size, held, resting, free, usedPercent }) => [
    network,
    pool,
    size,
    `${held}`,
    `${resting}`,
    free,
    `${usedPercent}%`,
  ]);
  const headings = ["NETWORK", "POOL", "SIZE", "HELD", "RESTING", "FREE", "USED"];
  output.stdout.write(table(headings, rows, output.paint));
  return ExitCode.ok;
}

/** Sizes as text: an IPv6 pool holds more than a JSON number can say. */
function numbers({ network, set, usage }: InventoryPool) {
  const { size, held, resting } = usage;
  return {
    network,
    pool: set.toString(),
    size: size.toString(),
    held,
    resting,
    free: (size - BigInt(held + resting)).toString(),
    usedPercent: Math.round(held / Number(size) * 1000) / 10,
  };
}
