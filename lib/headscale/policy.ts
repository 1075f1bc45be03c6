/** The policy (ACL) of the tailnet: reading, checking and writing it. */

import { HeadscaleError, isHeadscaleError } from "./errors.ts";
import type { Features } from "./features.ts";
import { mergePolicy, type PolicyWish } from "./policy_merge.ts";
import type { CallOptions, Requests } from "./requests.ts";

/** What the calls about the policy need to know. */
export interface PolicyOptions extends CallOptions {
  readonly features: Features;
}

/** How {@linkcode ensurePolicy} ended. */
export interface PolicyOutcome {
  /**
   * - `unchanged`: the policy had all that is needed.
   * - `written`: it has now.
   * - `readOnly`: it is in a file on the server, which only its administrator can change.
   */
  readonly outcome: "unchanged" | "written" | "readOnly";
  /** What was added; for `readOnly`, what has to be. */
  readonly added: readonly string[];
  /** The policy with it. */
  readonly text: string;
}

/** The text of the policy; `undefined` if there is none. */
export async function readPolicy(
  requests: Requests,
  options: CallOptions,
): Promise<string | undefined> {
  try {
    return await requests.ask({
      operation: "read the policy of Headscale",
      method: "GET",
      path: "/api/v1/policy",
      idempotent: true,
      read: (answer) => answer.optionalText("policy"),
    }, options);
  } catch (error) {
    if (isHeadscaleError(error, "NotFound")) return undefined;
    throw error;
  }
}

/** Has Headscale check `text`, where it can (from 0.29 on); a wrong policy is an error. */
export async function checkPolicy(
  requests: Requests,
  text: string,
  options: PolicyOptions,
): Promise<void> {
  if (!options.features.checksPolicy) return;
  await requests.ask({
    operation: "check a policy with Headscale",
    method: "POST",
    path: "/api/v1/policy/check",
    body: { policy: text },
    idempotent: true,
    read: () => undefined,
  }, options);
}

/** Replaces the policy; Headscale refuses a wrong one. */
export async function writePolicy(
  requests: Requests,
  text: string,
  options: CallOptions,
): Promise<void> {
  await requests.ask({
    operation: "write the policy of Headscale",
    method: "PUT",
    path: "/api/v1/policy",
    body: { policy: text },
    idempotent: true,
    read: () => undefined,
  }, options);
}

/**
 * Makes sure that the policy has what the cluster needs, if Headscale keeps it in its database.
 *
 * Headscale has no compare-and-swap: just before writing it is read once more, and if somebody
 * changed it meanwhile nothing is written.
 *
 * @throws {PolicyError} if the policy there cannot be added to.
 * @throws {HeadscaleError} `Refused` if Headscale does not like the result.
 */
export async function ensurePolicy(
  requests: Requests,
  wish: Omit<PolicyWish, "allowsWithoutRules">,
  options: PolicyOptions,
): Promise<PolicyOutcome> {
  const { allowsWithoutRules } = options.features;
  const before = await readPolicy(requests, options);
  const { text, added } = mergePolicy(before, { ...wish, allowsWithoutRules });
  if (added.length === 0) return { outcome: "unchanged", added, text };
  await checkPolicy(requests, text, options);
  if (await readPolicy(requests, options) !== before) {
    throw new HeadscaleError({
      kind: "Failed",
      operation: "add to the policy of Headscale",
      reason: "somebody else changed it at the same moment; nothing was written",
      remedy: "It is tried again later",
    });
  }
  try {
    await writePolicy(requests, text, options);
  } catch (error) {
    const isReadOnly = isHeadscaleError(error, "Refused") &&
      /update is disabled/.test(error.reason);
    if (!isReadOnly) throw error;
    return { outcome: "readOnly", added, text };
  }
  return { outcome: "written", added, text };
}
