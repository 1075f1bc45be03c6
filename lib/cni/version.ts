/** Versions of the CNI specification this program speaks. */

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

/** The newest version; used where the caller has named none we could answer in. */
export const SPEC_VERSION = "1.1.0";
