/** `headcni ipam show`. */

import { inventory, type InventoryEntry } from "../../ipam/inventory.ts";
import { readStore } from "../../store/open_store.ts";
import { type Invocation, type Output } from "../command.ts";
import { ExitCode } from "../exit_code.ts";
import { addressIfAny, entryObject, printJson, storeOptions } from "./context.ts";

/** Prints all entries of an address, or of containers whose id begins with what was typed. */
export function run(invocation: Invocation, output: Output): number {
  const target = invocation.positionals[0] ?? "";
  const address = addressIfAny(target);
  const isMeant = (entry: InventoryEntry) =>
    address === undefined
      ? entry.attachment?.containerId.startsWith(target) === true
      : entry.address.equals(address);
  const entries = readStore(
    storeOptions(invocation, output),
    (store) => inventory(store, invocation.value("network")).filter(isMeant),
  ) ?? [];
  if (invocation.has("json")) printJson(output, entries.map(entryObject));
  else if (entries.length === 0) output.stderr.write(absentText(target, address !== undefined));
  else output.stdout.write(entries.map(paragraph).join("\n"));
  return entries.length === 0 ? ExitCode.absent : ExitCode.ok;
}

function absentText(target: string, isAddress: boolean): string {
  return isAddress
    ? `${target} is free, or in no pool of this store\n`
    : `no container whose id begins with ${target} holds an address\n`;
}

function paragraph(entry: InventoryEntry): string {
  const facts = Object.entries(entryObject(entry)).filter(([, value]) => value !== undefined);
  const width = Math.max(...facts.map(([key]) => key.length));
  return facts.map(([key, value]) => `${key.padEnd(width)}  ${value}\n`).join("");
}
