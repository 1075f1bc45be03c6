/**
 * GC by a chain: attachments the runtime does not list are deleted by what was recorded, then
 * every plugin that has a GC gets it. Errors are told at the end.
 */

import { type StoredChain } from "../../store/chains.ts";
import { HeadcniError } from "../../sys/errors.ts";
import { type PluginCall } from "../dispatch.ts";
import { toCniError } from "../error_code.ts";
import { RemoveError } from "../errors.ts";
import { type JsonObject } from "../../sys/json_reader.ts";
import { gc as gcNative } from "../native/gc.ts";
import { isValid, readValidAttachments, type ValidAttachments } from "../valid_attachments.ts";
import { isAtLeast } from "../version.ts";
import { Budget } from "./budget.ts";
import { type ChainPorts, contextOf, elementsOf } from "./chain_call.ts";
import { ChainState } from "./chain_state.ts";
import { deleteSteps } from "./delete_steps.ts";
import { deleteSaved, savedContainers } from "./flannel_state.ts";
import { callElement, type ChainContext, type Target } from "./run_element.ts";
import { spokenVersions } from "./spoken_versions.ts";

/** Flannel writes down no name of the interface; in Kubernetes it is always this one. */
const POD_INTERFACE = "eth0";

interface Collection {
  readonly call: PluginCall;
  readonly context: ChainContext;
  readonly state: ChainState;
  readonly budget: Budget;
  readonly valid: ValidAttachments;
  readonly failures: string[];
}

/** Carries out GC. @throws {RemoveError} after everything was tried. */
export async function gc(call: PluginCall, ports: ChainPorts = {}): Promise<void> {
  const collection = collectionOf(call, ports);
  const { natives } = await collectStale(collection);
  if (natives) await attempt(collection, () => collectNative(call));
  await collectSaved(collection);
  await attempt(collection, () => passOn(collection));
  finish(collection);
}

/** The chains of a network whose configuration names our own data path now. @throws {RemoveError} */
export async function gcChains(call: PluginCall, ports: ChainPorts = {}): Promise<void> {
  const collection = collectionOf(call, ports);
  await collectStale(collection);
  await collectSaved(collection);
  finish(collection);
}

function collectionOf(call: PluginCall, ports: ChainPorts): Collection {
  return {
    call,
    context: contextOf(call, ports),
    state: new ChainState(call),
    budget: new Budget(call),
    valid: readValidAttachments(call.config.raw),
    failures: [],
  };
}

/** Returns whether our own data path has attachments that are not in use. */
async function collectStale(collection: Collection): Promise<{ natives: boolean }> {
  const { state, valid } = collection;
  const { chains, natives } = await state.list();
  const stale = chains.filter((chain) => !isValid(valid, chain));
  for (const chain of stale) {
    await attempt(collection, async () => {
      const target = targetOfRecord(chain, collection);
      collection.failures.push(...await deleteSteps(chain, { ...collection, target }));
    });
  }
  return { natives: natives.some((one) => !isValid(valid, one)) };
}

function targetOfRecord(chain: StoredChain, { context: { platform } }: Collection): Target {
  const recorded = chain.sinceBoot ? platform.lastingNetns(chain.netns ?? "") : "";
  const netns = recorded !== "" && platform.isOwnNetns(recorded) ? "" : recorded;
  return { containerId: chain.containerId, ifname: chain.ifname, netns, args: chain.args ?? "" };
}

/** Attachments from before the configuration named other plugins. */
async function collectNative(call: PluginCall): Promise<void> {
  const { ipam: _, ...rest } = call.config.raw;
  const raw = { ...rest, ipam: { type: "headcni-ipam" } };
  await gcNative({ ...call, config: { ...call.config, raw } });
}

/** Pods of flannel that ended while nobody called for them. */
async function collectSaved(collection: Collection): Promise<void> {
  const { call, context, budget, valid } = collection;
  const { name, raw } = call.config;
  for (const { containerId, saved } of savedContainers(name, { raw, context })) {
    if (valid.some((one) => one.containerId === containerId)) continue;
    const target = { containerId, ifname: POD_INTERFACE, netns: "", args: "" };
    await attempt(collection, () => {
      return deleteSaved(saved, { context, target, budget, previous: undefined });
    });
  }
}

/**
 * GC to each plugin that has it, in the order of ADD (SPEC 1.1.0, "GC"). Older ones would take
 * it for another verb, so they are asked first.
 */
async function passOn(collection: Collection): Promise<void> {
  const { call, context, budget, valid } = collection;
  const elements = elementsOf(call, context).map(({ config, ...element }) => {
    const { runtimeConfig: _, ...rest } = config; // it is about one attachment
    return { ...element, config: rest };
  });
  const more = listFor(valid);
  for (const [done, element] of elements.entries()) {
    if (!isAtLeast(element.version, "1.1.0")) continue;
    const timeoutMs = budget.share(elements.length - done);
    await attempt(collection, async () => {
      const versions = await spokenVersions(element, context, timeoutMs);
      if (!versions.includes(element.version)) return;
      await callElement(element, { command: "GC", more, timeoutMs }, context);
    });
  }
}

/** Both spellings, as the Go library writes it. */
function listFor(valid: ValidAttachments): JsonObject {
  const list = valid.map(({ containerId, ifname }) => ({ containerID: containerId, ifname }));
  return { "cni.dev/valid-attachments": list, "cni.dev/attachments": list };
}

async function attempt({ failures }: Collection, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof HeadcniError)) throw error;
    const { msg, details } = toCniError(error);
    failures.push(details === undefined ? msg : `${msg} (${details})`);
  }
}

function finish({ call, failures }: Collection): void {
  if (failures.length === 0) return;
  throw new RemoveError({
    operation: "collect garbage",
    subject: `of network ${call.config.name}`,
    reason: failures.join("; "),
    remedy: "Repeat the GC",
  });
}
