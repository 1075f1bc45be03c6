/**
 * Addresses for attachments: pools, strategies, allocation and release.
 *
 * `allocate` and `release` are the whole of it; both work on an open store
 * (`lib/store/open_store.ts`) in one transaction. Pools are in the language of host-local
 * (`pool_config.ts`). What the kernel uses (`observe.ts`) is compared with the store by
 * `compare.ts`.
 *
 * @module
 */

export {
  allocate,
  type AllocatedAddress,
  type AllocatePorts,
  type AllocateRequest,
} from "./allocate.ts";
export {
  AddressCheckError,
  AddressUnavailableError,
  AttachmentConflictError,
  ExhaustedError,
  type PoolUsage,
} from "./errors.ts";
export {
  compare,
  type Comparison,
  type Finding,
  FINDING_KINDS,
  type FindingKind,
  persisting,
} from "./compare.ts";
export {
  type HostLocalEntry,
  type HostLocalNetwork,
  importHostLocal,
  type ImportReport,
  readHostLocal,
} from "./host_local.ts";
export { inventory, type InventoryEntry, type InventoryPool, inventoryPools } from "./inventory.ts";
export { parsePoolConfig, parsePoolDefinitions, type PoolConfig } from "./pool_config.ts";
export { type PoolRange, RangeSet } from "./range_set.ts";
export { release, type ReleaseRequest, releaseStale } from "./release.ts";
export { type StrategyName } from "./strategy.ts";
export { hasRoom, poolUsage } from "./usage.ts";
