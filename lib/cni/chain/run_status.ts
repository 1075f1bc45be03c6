/** STATUS by a chain: whether every plugin would serve an ADD now. Changes nothing. */

import { HeadcniError } from "../../sys/errors.ts";
import { type PluginCall } from "../dispatch.ts";
import { DelegateError, NotReadyError } from "../errors.ts";
import { isAtLeast } from "../version.ts";
import { Budget } from "./budget.ts";
import { type ChainPorts, contextOf, elementsOf } from "./chain_call.ts";
import { type ChainElement } from "./element.ts";
import { callElement, type ChainContext, checkProgram } from "./run_element.ts";
import { checkVersionSpoken } from "./spoken_versions.ts";

/** Carries out STATUS. @throws {NotReadyError}, or what the first plugin says that is not ready. */
export async function status(call: PluginCall, ports: ChainPorts = {}): Promise<void> {
  const budget = new Budget(call);
  const context = contextOf(call, ports);
  try {
    const elements = elementsOf(call, context);
    for (const element of elements) checkProgram(element, context);
    for (const [done, element] of elements.entries()) {
      await ask(element, context, budget.share(elements.length - done));
    }
  } catch (error) {
    // A number of the plugin's own (50, 51) goes on to the runtime.
    if (error instanceof DelegateError && error.code !== undefined) throw error;
    if (!(error instanceof HeadcniError)) throw error;
    const remedy = error.remedy === undefined ? {} : { remedy: error.remedy };
    throw new NotReadyError({ operation: "serve ADD", reason: error.message, ...remedy });
  }
}

/** Before 1.1.0 plugins have no STATUS; that they run and speak the version is known by VERSION. */
async function ask(element: ChainElement, context: ChainContext, timeoutMs: number): Promise<void> {
  if (!isAtLeast(element.version, "1.1.0")) {
    return await checkVersionSpoken(element, context, timeoutMs);
  }
  try {
    await callElement(element, { command: "STATUS", timeoutMs }, context);
  } catch (error) {
    // One that does not know the verb says anything but that.
    if (!isAboutStatus(error)) await checkVersionSpoken(element, context, timeoutMs);
    throw error;
  }
}

/** 50: cannot serve ADD; 51: and what there is may be degraded. From 100 on: the plugin's own. */
function isAboutStatus(error: unknown): boolean {
  if (!(error instanceof DelegateError)) return true;
  return !error.mayHaveRun || error.code !== undefined && error.code >= 50;
}
