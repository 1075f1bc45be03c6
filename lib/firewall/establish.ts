/** A pod's rules on a node of which nothing is known: load, restore, add, in the right order. */

import type { NetlinkConnection } from "../netlink/mod.ts";
import type { HeadcniError } from "../sys/errors.ts";
import { RulesetMissingError } from "./errors.ts";
import { ensureRuleset, type LoadOptions } from "./load.ts";
import type { PodRules } from "./pod_rules.ts";
import { addPod, type RivalOptions } from "./pods.ts";
import { forgetUdpFlows } from "./udp_flows.ts";

/** Options for {@linkcode establishPod}. */
export interface EstablishOptions extends Omit<LoadOptions, "quick" | "onFailure">, RivalOptions {}

/**
 * Makes sure that the ruleset is loaded and that `pod` is in it. If the ruleset was missing, all
 * pods that are known come back with it: those of a node whose rules somebody flushed work again
 * with the next pod that starts, daemon or not.
 *
 * @returns what could not be restored of other pods, for the log.
 * @throws {HostPortConflictError} a host port leads to another pod; nothing of `pod` was added.
 * @throws {FirewallError} the ruleset cannot be loaded, or the rules make no sense.
 */
export async function establishPod(
  connection: NetlinkConnection,
  pod: PodRules,
  options: EstablishOptions = {},
): Promise<HeadcniError[]> {
  const { knownPods = () => [] } = options;
  const failures: HeadcniError[] = [];
  const load = (quick: boolean) =>
    ensureRuleset(connection, {
      ...options,
      quick,
      // What is wrong with this one is for its own caller.
      knownPods: () =>
        knownPods().filter(({ hostInterface }) => hostInterface !== pod.hostInterface),
      onFailure: (failure) => failures.push(failure),
    });
  await load(true);
  try {
    addPod(connection, pod, options);
  } catch (error) {
    // A set that the quick probe did not ask for, or a flush since then.
    if (!(error instanceof RulesetMissingError)) throw error;
    await load(false);
    addPod(connection, pod, options);
  }
  forgetUdpFlows(connection, pod);
  return failures;
}
