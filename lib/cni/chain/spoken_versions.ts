/** Which versions of the specification a plugin speaks, asked when it matters. */

import { DelegateError } from "../errors.ts";
import { isJsonObject } from "../../sys/json_reader.ts";
import { parsePrinted } from "../plugin_exec.ts";
import { SUPPORTED_VERSIONS } from "../version.ts";
import { type Budget } from "./budget.ts";
import { type ChainElement, ownPart } from "./element.ts";
import { callElement, type ChainContext } from "./run_element.ts";

/** "Incompatible CNI version" (SPEC, "Error"). */
const INCOMPATIBLE = 1;

/** It is one more run of the program, and only for the words of an error. */
const ASK_MS = 2000;

/** What a plugin answers to VERSION. @throws {DelegateError} */
export async function spokenVersions(
  element: ChainElement,
  context: ChainContext,
  timeoutMs: number,
): Promise<readonly string[]> {
  if (ownPart(element.type) !== undefined) return SUPPORTED_VERSIONS;
  const asked = { ...element, config: { cniVersion: element.version } };
  const printed = await callElement(asked, { command: "VERSION", timeoutMs }, context);
  const answer = parsePrinted(element.label, printed);
  const versions = isJsonObject(answer) ? answer.supportedVersions : undefined;
  if (Array.isArray(versions)) return versions.map(String);
  const reason = "its answer to VERSION has no supportedVersions";
  throw new DelegateError({ plugin: element.label, reason });
}

/** Makes sure that a plugin runs and speaks the version it is spoken to in. @throws {DelegateError} */
export async function checkVersionSpoken(
  element: ChainElement,
  context: ChainContext,
  timeoutMs: number,
): Promise<void> {
  const versions = await spokenVersions(element, context, timeoutMs);
  if (versions.includes(element.version)) return;
  throw new DelegateError({
    plugin: element.label,
    reason: `it speaks CNI ${versions.join(", ")}, it is asked in ${element.version}`,
    code: INCOMPATIBLE,
    remedy: `Give the plugin a "cniVersion" it speaks; results are converted on the way`,
  });
}

/** A plugin that refused the version: the error with the versions it has. */
export async function explainVersion(
  error: unknown,
  element: ChainElement,
  { context, budget }: { context: ChainContext; budget: Budget },
): Promise<unknown> {
  if (!(error instanceof DelegateError) || error.code !== INCOMPATIBLE) return error;
  try {
    const timeoutMs = Math.min(ASK_MS, budget.addShare());
    const versions = await spokenVersions(element, context, timeoutMs);
    const spoken = `the plugin speaks CNI ${
      versions.join(", ")
    }, it was asked in ${element.version}`;
    return error.withDetail(spoken);
  } catch {
    return error; // what it said first is the better explanation
  }
}
