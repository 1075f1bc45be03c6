/** The one place that knows CNI error numbers (SPEC, section "Error"). */

import { causeChain, HeadcniError } from "../sys/errors.ts";
import { EnvironmentError } from "./errors.ts";
import { SPEC_VERSION } from "./version.ts";

/** What a failing plugin prints on standard output. */
export interface CniErrorObject {
  readonly cniVersion: string;
  readonly code: number;
  readonly msg: string;
  readonly details?: string;
}

/** "Invalid environment variables": SPEC wants their names in the message. */
const INVALID_ENVIRONMENT = 4;

/** Not in the specification: what the Go library reports for a failure it has no number for. */
const INTERNAL = 999;

/** Renders any thrown value as a CNI error object in the caller's version. */
export function toCniError(error: unknown, cniVersion: string = SPEC_VERSION): CniErrorObject {
  const [msg = "Unknown error", ...causes] = causeChain(error);
  const remedy = error instanceof HeadcniError ? error.remedy : undefined;
  const details = [...causes, ...(remedy === undefined ? [] : [remedy])].join("; ");
  return { cniVersion, code: codeOf(error), msg, ...(details === "" ? {} : { details }) };
}

function codeOf(error: unknown): number {
  return error instanceof EnvironmentError ? INVALID_ENVIRONMENT : INTERNAL;
}
