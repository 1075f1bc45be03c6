/** `headcni ipam list`. */

import { inventory } from "../../ipam/inventory.ts";
import { readStore } from "../../store/open_store.ts";
import { type Invocation, type Output } from "../command.ts";
import { ExitCode } from "../exit_code.ts";
import { table } from "../table.ts";
import { entryObject, holderText, printJson, storeOptions } from "./context.ts";

/** Prints every address that is not free. A machine without a store has none. */
export function run(invocation: Invocation, output: Output): number {
  const options = storeOptions(invocation, output);
  const entries = readStore(options, (store) => inventory(store, invocation.value("network"))) ??
    [];
  if (invocation.has("json")) {
    printJson(output, entries.map(entryObject));
    return ExitCode.ok;
  }
  const rows = entries.map((entry) => [
    entry.network,
    entry.address.toString(),
    entry.state,
    entry.attachment?.containerId.slice(0, 12) ?? "",
    entry.attachment?.ifname ?? "",
    holderText(entry),
  ]);
  const headings = ["NETWORK", "ADDRESS", "STATE", "CONTAINER", "IFNAME", "POD OR NOTE"];
  output.stdout.write(table(headings, rows, output.paint));
  return ExitCode.ok;
}
