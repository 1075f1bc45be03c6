/**
 * The truth about attachments and addresses: one SQLite file, shared by all processes.
 *
 * `withStore` runs work alone among all writers, `readStore` reads beside them. What a
 * network holds is in {@linkcode NetworkRecords}; which address to choose is decided in
 * `lib/ipam`.
 *
 * @module
 */

export { type HeldAddress, HeldAddresses, type Hold, type HoldKind } from "./addresses.ts";
export {
  type Attachment,
  type AttachmentFacts,
  type AttachmentKey,
  Attachments,
} from "./attachments.ts";
export {
  type ChainFacts,
  Chains,
  type ChainStep,
  type StepStatus,
  type StoredChain,
} from "./chains.ts";
export { type Rebuild } from "./create_store.ts";
export { StoreError, type StoreErrorKind } from "./errors.ts";
export { DATA_DIR_VARIABLE, dataDirectory, DEFAULT_DATA_DIR, storePaths } from "./location.ts";
export { NetworkRecords } from "./network.ts";
export {
  hasStore,
  type ProbeOptions,
  probeStore,
  readStore,
  type StoreOptions,
  withStore,
} from "./open_store.ts";
export { type StoredPool } from "./pools.ts";
export { type RestingAddress } from "./resting.ts";
export { SCHEMA_VERSION } from "./schema.ts";
export { type FoundAddress, Store } from "./store.ts";
export { type TakenRun, TakenRuns } from "./taken_runs.ts";
