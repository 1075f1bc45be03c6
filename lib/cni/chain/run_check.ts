/** CHECK by a chain: each plugin that was recorded, in the order of ADD; the first error ends it. */

import { type StoredChain } from "../../store/chains.ts";
import { type AttachmentCall } from "../dispatch.ts";
import { ConfigError } from "../../sys/config_error.ts";
import { CheckError } from "../errors.ts";
import { isAtLeast } from "../version.ts";
import { Budget } from "./budget.ts";
import { type ChainPorts, contextOf, targetOf } from "./chain_call.ts";
import { ChainState } from "./chain_state.ts";
import { elementOf } from "./delete_steps.ts";
import { previousFor, previousResult } from "./previous_result.ts";
import { callElement } from "./run_element.ts";

/** Carries out CHECK. @throws {CheckError} or what a plugin says. */
export async function check(call: AttachmentCall, ports: ChainPorts = {}): Promise<void> {
  const budget = new Budget(call);
  const context = contextOf(call, ports);
  const target = targetOf(call, context);
  const previous = previousResult(call.config.raw, call.version);
  if (previous === undefined) {
    throw new ConfigError([{ key: "prevResult", problem: "is missing, CHECK needs it" }]);
  }
  const { chain } = await new ChainState(call).find(target);
  const steps = wholeSteps(chain, `${target.ifname} of ${target.containerId}`);
  for (const [done, step] of steps.entries()) {
    const element = elementOf(step);
    if (!isAtLeast(element.version, "0.4.0")) continue; // it has no CHECK
    const more = previousFor(element, "CHECK", previous);
    const timeoutMs = budget.share(steps.length - done);
    await callElement(element, { command: "CHECK", target, more, timeoutMs }, context);
  }
}

function wholeSteps(chain: StoredChain | undefined, subject: string): StoredChain["steps"] {
  if (chain === undefined) throw new CheckError(subject, ["the store knows of no ADD for it"]);
  if (chain.isWhole) return chain.steps;
  const open = chain.steps.filter(({ status }) => status !== "added").map(({ type, status }) =>
    `${type} ${status === "left" ? "could not be deleted" : "did not end its ADD"}`
  );
  throw new CheckError(subject, open.length > 0 ? open : ["its ADD did not come to its end"]);
}
