/** Versions of the CNI specification this program speaks. */

import { VersionError } from "./errors.ts";

/** Every released version, oldest first: the answer to `CNI_COMMAND=VERSION`. */
export const SUPPORTED_VERSIONS = [
  "0.1.0",
  "0.2.0",
  "0.3.0",
  "0.3.1",
  "0.4.0",
  "1.0.0",
  "1.1.0",
] as const;

/** One of {@linkcode SUPPORTED_VERSIONS}. */
export type CniVersion = typeof SUPPORTED_VERSIONS[number];

/** The newest version; used where the caller has named none we could answer in. */
export const SPEC_VERSION = "1.1.0";

/**
 * The answer to `VERSION`. Standard input is not read for it: the answer does not depend on it,
 * and a caller that keeps the pipe open must not hang (the Go library does the same).
 */
export const VERSION_ANSWER = { cniVersion: SPEC_VERSION, supportedVersions: SUPPORTED_VERSIONS };

/** What a configuration without a version means (SPEC 0.1.0 had no key for it). */
export const OLDEST_VERSION = "0.1.0";

/** `text` as a version we speak, `undefined` when it is none. */
export function findVersion(text: string): CniVersion | undefined {
  return SUPPORTED_VERSIONS.find((version) => version === text);
}

/** Whether `version` is `since` or newer. */
export function isAtLeast(version: CniVersion, since: CniVersion): boolean {
  return SUPPORTED_VERSIONS.indexOf(version) >= SUPPORTED_VERSIONS.indexOf(since);
}

/**
 * The version `text`, if we speak it and `command` exists in it.
 *
 * @throws {VersionError} naming what was asked for and what there is.
 */
export function checkVersion(text: string, command: string, since: CniVersion): CniVersion {
  const version = findVersion(text);
  if (version === undefined) {
    throw new VersionError({
      operation: "speak CNI version",
      subject: JSON.stringify(text),
      reason: `this plugin knows ${SUPPORTED_VERSIONS.join(", ")}`,
    });
  }
  if (isAtLeast(version, since)) return version;
  throw new VersionError({
    operation: "carry out",
    subject: command,
    reason: `it exists since CNI version ${since}, the configuration says ${version}`,
  });
}
