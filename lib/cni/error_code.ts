/** The one place that knows CNI error numbers (SPEC, section "Error"). */

import { causeChain, HeadcniError } from "../sys/errors.ts";
import {
  ConfigError,
  DecodeError,
  EnvironmentError,
  InputError,
  NotReadyError,
  ResultError,
  TryAgainError,
  VersionError,
} from "./errors.ts";
import { SPEC_VERSION } from "./version.ts";

/** What a failing plugin prints on standard output. */
export interface CniErrorObject {
  readonly cniVersion: string;
  readonly code: number;
  readonly msg: string;
  readonly details?: string;
}

/** Class of error → number; the first row that fits counts. */
// deno-lint-ignore no-explicit-any -- a table of classes with different constructors
const CODES: readonly (readonly [abstract new (...args: any[]) => Error, number])[] = [
  [VersionError, 1],
  [EnvironmentError, 4],
  [InputError, 5],
  [DecodeError, 6],
  [ResultError, 6],
  [ConfigError, 7],
  [TryAgainError, 11],
  [NotReadyError, 50],
];

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
  return CODES.find(([errorClass]) => error instanceof errorClass)?.[1] ?? INTERNAL;
}
