/** `headcni ipam release`. */

import { type IpAddress } from "../../ip/address.ts";
import { parseCooldown } from "../../ipam/pool_config.ts";
import { giveBack, releaseAttachment } from "../../ipam/release.ts";
import { type NetworkRecords } from "../../store/network.ts";
import { hasStore, withStore } from "../../store/open_store.ts";
import { type Store } from "../../store/store.ts";
import { type Invocation, type Output } from "../command.ts";
import { ExitCode } from "../exit_code.ts";
import { addressIfAny, printJson, storeOptions } from "./context.ts";

/** Releases by address or by container id. */
export async function run(invocation: Invocation, output: Output): Promise<number> {
  const options = storeOptions(invocation, output);
  const target = invocation.positionals[0] ?? "";
  const cooldownMs = invocation.has("now") ? 0 : parseCooldown(undefined);
  const released = !hasStore(options) ? [] : await withStore(options, (store) => {
    const work = () => store.transaction(() => releaseTarget(store, invocation, cooldownMs));
    return invocation.has("dry-run") ? store.rehearse(work) : work();
  });
  if (invocation.has("json")) printJson(output, released);
  else if (released.length === 0) output.stderr.write(`nothing is held by or as ${target}\n`);
  else {
    const verb = invocation.has("dry-run") ? "would release" : "released";
    for (const { network, address } of released) {
      output.stdout.write(`${verb} ${address} in network ${network}\n`);
    }
  }
  return released.length === 0 ? ExitCode.absent : ExitCode.ok;
}

interface Released {
  readonly network: string;
  readonly address: string;
}

function releaseTarget(store: Store, invocation: Invocation, cooldownMs: number): Released[] {
  const target = invocation.positionals[0] ?? "";
  const address = addressIfAny(target);
  const only = invocation.value("network");
  const ifname = invocation.value("ifname");
  return store.networks().filter((name) => only === undefined || name === only).flatMap((name) => {
    const network = store.ensureNetwork(name);
    const released = address === undefined
      ? network.attachments.list()
        .filter((one) => one.containerId === target && (ifname ?? one.ifname) === one.ifname)
        .flatMap(({ id }) => releaseAttachment(network, id, cooldownMs))
      : releaseAddress(network, address, cooldownMs);
    return released.map((address) => ({ network: name, address: address.toString() }));
  });
}

function releaseAddress(
  network: NetworkRecords,
  address: IpAddress,
  cooldownMs: number,
): IpAddress[] {
  const held = network.addresses.find(address);
  if (held === undefined) return [];
  if (held.attachment !== undefined) {
    return releaseAttachment(network, held.attachment, cooldownMs);
  }
  giveBack(network, address, cooldownMs);
  return [address];
}
