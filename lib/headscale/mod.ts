/**
 * Headscale's REST interface, versions 0.23 to 0.30 by what they offer rather than what they
 * call themselves: users, pre-auth keys, nodes, approval of routes, policy, health.
 *
 * Only our node and only our prefixes are touched; what others have set stays. Every request has
 * a deadline; what is safe to repeat is repeated after random waits; failures are
 * {@linkcode HeadscaleError} with one meaning each, whatever the version says them in.
 *
 * @module
 */

export { API_KEY_CREDENTIAL, ApiKeyError, type ApiKeySource, readApiKey } from "./api_key.ts";
export type { Approval, OwnNode } from "./approve.ts";
export {
  mergeApproved,
  type PrefixRefusal,
  refusedPrefixes,
  RouteRefusedError,
  withoutApproved,
} from "./approved_routes.ts";
export { HeadscaleError, type HeadscaleErrorKind, isHeadscaleError } from "./errors.ts";
export type { Features } from "./features.ts";
export { Headscale, type HeadscaleOptions, openHeadscale } from "./headscale.ts";
export { type Latency, LATENCY_BOUNDS_S, LatencyHistogram } from "./latency.ts";
export type { HeadscaleNode } from "./nodes.ts";
export type { PolicyOutcome } from "./policy.ts";
export { type MergedPolicy, mergePolicy, PolicyError, type PolicyWish } from "./policy_merge.ts";
export { KEY_LIFETIME_MS, type KeyWish, type MintedKey } from "./pre_auth_keys.ts";
export type { Attempt, CallOptions, RecordAttempt } from "./requests.ts";
export { parseServerUrl, type ServerUrl, ServerUrlError } from "./server_url.ts";
export type { HeadscaleUser } from "./users.ts";
