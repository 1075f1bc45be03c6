/** The way back: DEL of what was recorded, last first, each with the configuration of its ADD. */

import { type ChainStep, type StoredChain } from "../../store/chains.ts";
import { failpoint } from "../../sys/failpoint.ts";
import { toCniError } from "../error_code.ts";
import { isJsonObject, type JsonObject } from "../../sys/json_reader.ts";
import { findVersion, OLDEST_VERSION } from "../version.ts";
import { type Budget } from "./budget.ts";
import { type ChainState } from "./chain_state.ts";
import { type ChainElement } from "./element.ts";
import { previousFor, type VersionedResult } from "./previous_result.ts";
import { callElement, type ChainContext, type Target } from "./run_element.ts";

/** What deleting needs. */
export interface DeleteOptions {
  readonly context: ChainContext;
  readonly state: ChainState;
  readonly budget: Budget;
  readonly target: Target;
  /** The result plugins are told of; by default the last one recorded. */
  readonly previous?: VersionedResult | undefined;
}

/** A step as a plugin to be called. */
export function elementOf(step: ChainStep): ChainElement {
  const config = parse(step.config);
  const written = typeof config.cniVersion === "string" ? config.cniVersion : "";
  return {
    position: step.position,
    type: step.type,
    label: `${step.type} (number ${step.position + 1} of the chain)`,
    version: findVersion(written) ?? OLDEST_VERSION,
    config,
  };
}

/** The last result of a chain that was recorded. */
export function lastResult({ steps }: Pick<StoredChain, "steps">): VersionedResult | undefined {
  const step = steps.findLast(({ result }) => result !== undefined);
  if (step?.result === undefined) return undefined;
  return { value: parse(step.result), version: elementOf(step).version };
}

/**
 * Deletes every step of `chain`. One that fails keeps its record and does not keep the others
 * from being deleted. Returns what failed, as sentences.
 */
export async function deleteSteps(
  chain: Pick<StoredChain, "id" | "steps">,
  options: DeleteOptions,
): Promise<string[]> {
  const { context, state, budget, target } = options;
  const previous = options.previous ?? lastResult(chain);
  const failures: string[] = [];
  for (const [done, step] of chain.steps.toReversed().entries()) {
    const element = elementOf(step);
    try {
      if (step.status === "started") await endOutlived(options);
      const timeoutMs = budget.share(chain.steps.length - done);
      const more = previousFor(element, "DEL", previous);
      await callElement(element, { command: "DEL", target, more, timeoutMs }, context);
      failpoint(`chain.del.run.${step.position}`);
      await state.forget(chain.id, step.position);
      failpoint(`chain.del.forgotten.${step.position}`);
    } catch (error) {
      const { msg, details } = toCniError(error);
      failures.push(details === undefined ? msg : `${msg} (${details})`);
      await leave(state, { id: chain.id, position: step.position }, msg);
    }
  }
  return failures;
}

/** Its ADD may still be running: whoever was killed, it was not the plugin. */
async function endOutlived({ context, target: { containerId, ifname } }: DeleteOptions) {
  await context.platform.endOrphans({
    CNI_COMMAND: "ADD",
    CNI_CONTAINERID: containerId,
    CNI_IFNAME: ifname,
  });
}

/** The record is there already; that it says why the DEL failed is for people to see. */
async function leave(
  state: ChainState,
  at: { id: number; position: number },
  error: string,
): Promise<void> {
  await state.leave(at.id, at.position, error).catch(() => {});
}

/** Our own JSON; a damaged store is found elsewhere. */
function parse(text: string): JsonObject {
  const value: unknown = JSON.parse(text);
  return isJsonObject(value) ? value : {};
}
