/** `headcni ipam reserve`. */

import { AddressUnavailableError } from "../../ipam/errors.ts";
import { withStore } from "../../store/open_store.ts";
import { type Invocation, type Output } from "../command.ts";
import { ExitCode } from "../exit_code.ts";
import { addressOf, printJson, required, storeOptions } from "./context.ts";

/** Reserves an address that nobody holds; one at rest may be reserved. */
export async function run(invocation: Invocation, output: Output): Promise<number> {
  const address = addressOf(invocation.positionals[0] ?? "");
  const network = required(invocation, "network");
  const note = invocation.value("note");
  await withStore(storeOptions(invocation, output), (store) => {
    const work = () =>
      store.transaction(() => {
        const records = store.ensureNetwork(network);
        const held = records.addresses.find(address);
        if (held !== undefined) {
          const holder = records.attachments.byId(held.attachment ?? -1)?.containerId;
          const reason = holder === undefined ? `it is ${held.kind} already` : `${holder} holds it`;
          throw new AddressUnavailableError(address, reason);
        }
        records.hold(address, { kind: "reserved", ...(note === undefined ? {} : { note }) });
      });
    return invocation.has("dry-run") ? store.rehearse(work) : work();
  });
  const verb = invocation.has("dry-run") ? "would reserve" : "reserved";
  if (invocation.has("json")) printJson(output, { network, address, state: "reserved", note });
  else output.stdout.write(`${verb} ${address} in network ${network}\n`);
  return ExitCode.ok;
}
