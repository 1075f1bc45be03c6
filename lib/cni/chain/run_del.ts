/**
 * DEL by a chain of plugins: of those that may have run, last first, with the configurations
 * that were written down, since the file on the disk may have changed. One that fails keeps its
 * record, and the next DEL tries it again.
 *
 * Without a record there are three more owners an attachment may have: flannel's plugin, before
 * the switch to us; our own data path, before the configuration named other plugins; and a chain
 * whose record was lost with the store, for which the plugins of today's configuration are
 * called, and what they say is not held against the pod.
 */

import { failpoint } from "../../sys/failpoint.ts";
import { HeadcniError } from "../../sys/errors.ts";
import { type AttachmentCall } from "../dispatch.ts";
import { RemoveError } from "../errors.ts";
import { isJsonObject } from "../../sys/json_reader.ts";
import { del as delNative } from "../native/del.ts";
import { Budget } from "./budget.ts";
import { type ChainPorts, contextOf, elementsOf, targetOf } from "./chain_call.ts";
import { ChainState } from "./chain_state.ts";
import { type DeleteOptions, deleteSteps } from "./delete_steps.ts";
import { deleteSaved, savedDelegate } from "./flannel_state.ts";
import { previousFor, previousResult, type VersionedResult } from "./previous_result.ts";
import { callElement } from "./run_element.ts";

/** Carries out DEL. @throws {RemoveError} after everything was tried. */
export async function del(call: AttachmentCall, ports: ChainPorts = {}): Promise<void> {
  const context = contextOf(call, ports);
  const state = new ChainState(call);
  const target = targetOf(call, context);
  const options = { context, state, target, budget: new Budget(call), previous: given(call) };
  const { chain, isNative } = await state.find(target);
  failpoint("chain.del.begun");
  if (chain !== undefined) {
    const failures = await deleteSteps(chain, options);
    if (failures.length > 0) throw removeError(call, options, failures);
  } else if (isNative) await delNativeAttachment(call);
  else if (!await delSaved(call, options)) await delUnrecorded(call, options);
}

/**
 * DEL for a configuration of our own data path, of an attachment that was made otherwise.
 * Returns whether that was all there is to do.
 */
export async function delOthers(call: AttachmentCall, ports: ChainPorts = {}): Promise<boolean> {
  const context = contextOf(call, ports);
  const state = new ChainState(call);
  const target = targetOf(call, context);
  if ((await state.find(target)).chain !== undefined) {
    await del(call, ports);
    return true;
  }
  const options = { context, state, target, budget: new Budget(call), previous: given(call) };
  await delSaved(call, options);
  // Its addresses may have been taken over into our store.
  return false;
}

/** What the runtime says ADD answered; a DEL must not fail because that is damaged. */
function given({ config, version }: AttachmentCall): VersionedResult | undefined {
  try {
    return previousResult(config.raw, version);
  } catch (error) {
    if (error instanceof HeadcniError) return undefined;
    throw error;
  }
}

/** Our own data path's record knows what was made; of the configuration it needs the IPAM. */
async function delNativeAttachment(call: AttachmentCall): Promise<void> {
  const { raw } = call.config;
  const ipam = isJsonObject(raw.ipam) && typeof raw.ipam.type === "string"
    ? raw.ipam
    : { type: "headcni-ipam" };
  await delNative({ ...call, config: { ...call.config, raw: { ...raw, ipam } } });
}

/** Returns whether flannel's plugin had saved something. */
async function delSaved(call: AttachmentCall, options: DeleteOptions): Promise<boolean> {
  const { context, target, budget, previous } = options;
  const saved = savedDelegate(target, { raw: call.config.raw, context });
  if (saved === undefined) return false;
  await deleteSaved(saved, { context, target, budget, previous });
  return true;
}

async function delUnrecorded(call: AttachmentCall, options: DeleteOptions): Promise<void> {
  const { context, target, budget, previous } = options;
  try {
    const elements = elementsOf(call, context);
    for (const [done, element] of elements.toReversed().entries()) {
      const more = previousFor(element, "DEL", previous);
      const timeoutMs = budget.share(elements.length - done);
      await callElement(element, { command: "DEL", target, more, timeoutMs }, context)
        .catch((error) => tell(call, error));
    }
  } catch (error) {
    tell(call, error);
  }
}

/** There is no evidence that anything was ever made: for the log. */
function tell({ io }: AttachmentCall, error: unknown): void {
  if (!(error instanceof HeadcniError)) throw error;
  io.stderr.write(`headcni: DEL without a record: ${error.message}\n`);
}

function removeError(
  call: AttachmentCall,
  { context, target }: DeleteOptions,
  failures: readonly string[],
): RemoveError {
  const left = context.platform.leftOver(target, call.config.name);
  return new RemoveError({
    operation: "remove attachment",
    subject: `${target.ifname} of ${target.containerId}`,
    reason: failures.join("; "),
    remedy: `Repeat the DEL${left === undefined ? "" : `; what may be left is ${left}`}`,
  });
}
