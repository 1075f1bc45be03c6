/** `headcni ipam gc`. */

import { type Finding, persisting } from "../../ipam/compare.ts";
import { parseCooldown } from "../../ipam/pool_config.ts";
import { giveBack, releaseAttachment } from "../../ipam/release.ts";
import { hasStore, type StoreOptions, withStore } from "../../store/open_store.ts";
import { type Store } from "../../store/store.ts";
import { systemClock } from "../../sys/clock.ts";
import { type Invocation, type Output } from "../command.ts";
import { ExitCode } from "../exit_code.ts";
import { UsageError } from "../usage_error.ts";
import { findingObject, look } from "./comparison.ts";
import { printJson, storeOptions } from "./context.ts";

const DEFAULT_GRACE_SECONDS = 5;
const MAX_GRACE_SECONDS = 3600;

/** Releases what leaked at two looks. */
export async function run(invocation: Invocation, output: Output): Promise<number> {
  const options = storeOptions(invocation, output);
  const leaked = hasStore(options) ? await findLeaked(invocation, options) : [];
  const isDry = invocation.has("dry-run");
  if (leaked.length > 0 && !isDry) {
    await withStore(options, (store) => releaseLeaked(store, leaked));
  }
  if (invocation.has("json")) printJson(output, leaked.map(findingObject));
  else {
    const verb = isDry ? "would release" : "released";
    for (const { address, network, detail } of leaked) {
      output.stdout.write(`${verb} ${address} in network ${network}: ${detail}\n`);
    }
    output.stdout.write(`${leaked.length} leaked\n`);
  }
  return ExitCode.ok;
}

async function findLeaked(
  invocation: Invocation,
  options: StoreOptions,
): Promise<readonly Finding[]> {
  const graceMs = graceSeconds(invocation) * 1000;
  const findings = async () => {
    const seen = await look(options, invocation.value("network"));
    return seen.findings.filter(({ kind }) => kind === "leaked");
  };
  const first = await findings();
  if (first.length === 0) return [];
  await systemClock.sleep(graceMs);
  return persisting(first, await findings());
}

function graceSeconds(invocation: Invocation): number {
  const text = invocation.value("grace") ?? `${DEFAULT_GRACE_SECONDS}`;
  const seconds = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && seconds <= MAX_GRACE_SECONDS) return seconds;
  throw new UsageError(`--grace "${text}"`, `give seconds from 0 to ${MAX_GRACE_SECONDS}`);
}

/** The rows may have changed since: only what is still held by the same one is released. */
function releaseLeaked(store: Store, leaked: readonly Finding[]): void {
  const cooldownMs = parseCooldown(undefined);
  store.transaction(() => {
    for (const { network: name, address, attachment } of leaked) {
      if (name === undefined) continue;
      const network = store.ensureNetwork(name);
      const held = network.addresses.find(address);
      if (held === undefined || held.attachment !== attachment) continue;
      if (attachment !== undefined) releaseAttachment(network, attachment, cooldownMs);
      else if (held.kind === "found") giveBack(network, address, cooldownMs);
    }
  });
}
