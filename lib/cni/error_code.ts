/** The one place that knows CNI error numbers (SPEC, section "Error"). */

import {
  AddressCheckError,
  AddressUnavailableError,
  AttachmentConflictError,
  ExhaustedError,
} from "../ipam/errors.ts";
import { FirewallError, HostPortConflictError } from "../firewall/errors.ts";
import { NetlinkError, NetnsError } from "../netlink/errors.ts";
import { StoreError } from "../store/errors.ts";
import { DeadlineError } from "../sys/clock.ts";
import { causeChain, HeadcniError } from "../sys/errors.ts";
import { FileError } from "../sys/file_error.ts";
import { ConfigError } from "../sys/config_error.ts";
import {
  AttachmentExistsError,
  CheckError,
  DecodeError,
  DelegateError,
  EnvironmentError,
  InputError,
  InterfaceExistsError,
  NotReadyError,
  OwnNetnsError,
  RemoveError,
  ResultError,
  SubnetFileError,
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

/** Class of error → number; the first row that fits counts. From 100 on the numbers are ours. */
// deno-lint-ignore no-explicit-any -- a table of classes with different constructors
const CODES: readonly (readonly [abstract new (...args: any[]) => Error, number])[] = [
  [VersionError, 1],
  [EnvironmentError, 4],
  [InputError, 5],
  [FileError, 5],
  [StoreError, 5],
  [DecodeError, 6],
  [ResultError, 6],
  [ConfigError, 7],
  [SubnetFileError, 7],
  // In the Go library only.
  [OwnNetnsError, 8],
  [NetnsError, 8],
  [DeadlineError, 11],
  [RemoveError, 11],
  [NotReadyError, 50],
  [ExhaustedError, 100],
  [AddressUnavailableError, 101],
  [AttachmentConflictError, 102],
  [AddressCheckError, 103],
  [CheckError, 103],
  [InterfaceExistsError, 104],
  [AttachmentExistsError, 104],
  [HostPortConflictError, 105],
  [FirewallError, 106],
  [NetlinkError, 107],
];

/** "Try again later": a store that others kept busy, a file the daemon has yet to write. */
const TRY_AGAIN = 11;

/** Not in the specification: what the Go library reports for a failure it has no number for. */
const INTERNAL = 999;

/** Renders any thrown value as a CNI error object in the caller's version. */
export function toCniError(error: unknown, cniVersion: string = SPEC_VERSION): CniErrorObject {
  const [msg = "Unknown error", ...causes] = causeChain(error);
  const remedy = error instanceof HeadcniError ? error.remedy : undefined;
  const delegated = error instanceof DelegateError ? error.details : undefined;
  const details = [...causes, delegated, remedy].filter((text) => text !== undefined).join("; ");
  return { cniVersion, code: codeOf(error), msg, ...(details === "" ? {} : { details }) };
}

function codeOf(error: unknown): number {
  if (error instanceof StoreError && error.kind === "Busy") return TRY_AGAIN;
  if (error instanceof SubnetFileError && error.isAbsent) return TRY_AGAIN;
  if (error instanceof DelegateError && error.code !== undefined) return error.code;
  return CODES.find(([errorClass]) => error instanceof errorClass)?.[1] ?? INTERNAL;
}
