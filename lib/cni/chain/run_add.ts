/**
 * ADD by a chain of plugins.
 *
 * 1. The configuration, the subnet file and the programs are looked at; nothing has happened.
 * 2. For each plugin: that it is about to run is written down, then it runs. Its result is
 *    written down together with the next plugin's beginning, and goes to it as `prevResult`.
 * 3. The last result is written down, then told in the version of the caller.
 *
 * If one fails, it and those before it get their DEL, last first. If we are killed, the record
 * says which plugins may have run.
 */

import { type StoredChain } from "../../store/chains.ts";
import { failpoint } from "../../sys/failpoint.ts";
import { type AttachmentCall } from "../dispatch.ts";
import { toCniError } from "../error_code.ts";
import { AttachmentExistsError, DelegateError, RemoveError } from "../errors.ts";
import { isJsonObject, type JsonObject } from "../../sys/json_reader.ts";
import { type CniVersion } from "../version.ts";
import { Budget } from "./budget.ts";
import { type ChainPorts, contextOf, elementsOf, targetOf } from "./chain_call.ts";
import { ChainState } from "./chain_state.ts";
import { deleteSteps } from "./delete_steps.ts";
import { type ChainElement } from "./element.ts";
import {
  previousFor,
  previousResult,
  printedResult,
  resultIn,
  type VersionedResult,
} from "./previous_result.ts";
import { callElement, type ChainContext, checkProgram, type Target } from "./run_element.ts";
import { explainVersion } from "./spoken_versions.ts";

interface Run {
  readonly context: ChainContext;
  readonly state: ChainState;
  readonly budget: Budget;
  readonly target: Target;
}

/** Carries out ADD and returns the result in the caller's version. */
export async function add(call: AttachmentCall, ports: ChainPorts = {}): Promise<unknown> {
  const budget = new Budget(call);
  const context = contextOf(call, ports);
  const elements = elementsOf(call, context);
  const target = targetOf(call, context);
  const given = previousResult(call.config.raw, call.version);
  for (const element of elements) checkProgram(element, context);
  const run = { context, state: new ChainState(call), budget, target };
  failpoint("chain.add.begun");
  call.notes.mark("config");
  const answer = await runAll(elements, { ...run, given, version: call.version });
  call.notes.mark("chain");
  call.notes.addresses = addressesIn(answer);
  return answer;
}

/** For what is told afterwards: the addresses of a result, of 0.3.0 and newer. */
function addressesIn({ ips }: JsonObject): string[] {
  return (Array.isArray(ips) ? ips : []).flatMap((ip) =>
    isJsonObject(ip) && typeof ip.address === "string" ? [ip.address.replace(/\/.*/, "")] : []
  );
}

/** Runs the plugins one after the other; the last result in `version`, or nothing was done. */
async function runAll(
  elements: readonly ChainElement[],
  run: Run & { given: VersionedResult | undefined; version: CniVersion },
): Promise<JsonObject> {
  const { state, given, version } = run;
  let id: number | undefined;
  let result: VersionedResult | undefined;
  let answer: JsonObject;
  const begun: ChainElement[] = [];
  try {
    for (const element of elements) {
      if (id === undefined || result === undefined) id = await begin(element, run);
      else await state.start(id, element, result);
      begun.push(element);
      failpoint(`chain.add.recorded.${element.position}`);
      result = await runOne(element, result ?? given, run);
      failpoint(`chain.add.run.${element.position}`);
    }
    if (id === undefined || result === undefined) throw new TypeError("Cannot run an empty chain");
    answer = resultIn(result, version); // it may have no form in an old version
    await state.complete(id, elements.length - 1, result);
  } catch (error) {
    throw await undo(error, { ...run, id, begun, previous: result ?? given });
  }
  failpoint("chain.add.complete");
  return answer;
}

async function runOne(
  element: ChainElement,
  previous: VersionedResult | undefined,
  { context, budget, target }: Run,
): Promise<VersionedResult> {
  const more = previousFor(element, "ADD", previous);
  const call = { command: "ADD", target, more, timeoutMs: budget.addShare() } as const;
  try {
    return printedResult(element, await callElement(element, call, context));
  } catch (error) {
    throw await explainVersion(error, element, { context, budget });
  }
}

/** DEL of everything that may have run; returns the error to tell, with what is left. */
async function undo(
  error: unknown,
  facts: Run & {
    id: number | undefined;
    begun: ChainElement[];
    previous: VersionedResult | undefined;
  },
): Promise<unknown> {
  const { id, begun, state, previous } = facts;
  if (id === undefined) return error;
  const failures: string[] = [];
  const never = error instanceof DelegateError && !error.mayHaveRun ? begun.at(-1) : undefined;
  if (never !== undefined) {
    begun.pop();
    await state.forget(id, never.position).catch((reason) => {
      failures.push(toCniError(reason).msg);
    });
  }
  const steps = begun.map(({ position, type, config }) => ({
    position,
    type,
    config: JSON.stringify(config),
    result: undefined,
    status: "added" as const, // or it failed: it has ended
    error: undefined,
  }));
  failures.push(...await deleteSteps({ id, steps }, { ...facts, previous }));
  if (failures.length === 0) return error;
  return withLeftOvers(error, (never ?? begun.at(-1))?.label ?? "", failures);
}

/** The plugin's own error, with what could not be undone among the details. */
function withLeftOvers(error: unknown, plugin: string, failures: readonly string[]): DelegateError {
  const left = `not undone, DEL tries again: ${failures.join("; ")}`;
  if (error instanceof DelegateError) return error.withDetail(left);
  const { code, msg, details } = toCniError(error);
  return new DelegateError({ plugin, reason: msg, code, details }).withDetail(left);
}

/** Begins the chain, after what an earlier one left is gone. Returns its row. */
async function begin(element: ChainElement, run: Run): Promise<number> {
  const begun = await run.state.begin(run.target, element);
  if (typeof begun === "number") return begun;
  await clearWay(begun, run);
  const again = await run.state.begin(run.target, element);
  if (typeof again === "number") return again;
  throw existsError(run.target);
}

/**
 * What an earlier ADD for this attachment left, killed before its end or ended with the machine,
 * is deleted first. A whole attachment is not ours to replace.
 */
async function clearWay(chain: StoredChain, run: Run): Promise<void> {
  const { target } = run;
  if (chain.isWhole && chain.sinceBoot) throw existsError(target);
  // No namespace has survived the restart of the machine.
  const netns = chain.sinceBoot ? target.netns : "";
  const failures = await deleteSteps(chain, { ...run, target: { ...target, netns } });
  if (failures.length === 0) return;
  throw new RemoveError({
    operation: "remove what an earlier ADD left of",
    subject: `${target.ifname} of ${target.containerId}`,
    reason: failures.join("; "),
    remedy: "Call DEL for it",
  });
}

function existsError({ containerId, ifname }: Target): AttachmentExistsError {
  return new AttachmentExistsError({
    operation: "add interface",
    subject: `${ifname} of ${containerId}`,
    reason: "an ADD for it has succeeded before",
    remedy: "Call DEL for it first, or ask for another name",
  });
}
