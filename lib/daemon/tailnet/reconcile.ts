/**
 * Decide, then do: from what should be and what is to the steps between, and to what is wrong.
 * Pure; `apply.ts` carries the steps out.
 */

import { clusterPrefixes, learnedPrefixes } from "./cluster.ts";
import { type Condition, condition } from "./condition.ts";
import type { Desired } from "./desired.ts";
import { awayCondition, planApproval } from "./headscale_plan.ts";
import { planKernel } from "./kernel_plan.ts";
import type { Memory, Observed } from "./observed.ts";
import type { Step } from "./step.ts";
import { judgeBackend, planPrefs } from "./tailscaled_plan.ts";

/** What to do, and what is wrong. */
export interface Plan {
  /** In this order; the node's own first. */
  readonly steps: readonly Step[];
  readonly conditions: readonly Condition[];
  /** More can be decided once Headscale has been asked again. */
  readonly wantsHeadscale: boolean;
  /** What to remember until the next look. */
  readonly memory: Memory;
}

/** The steps from `observed` to `desired`. No steps and no conditions: all is well. */
export function reconcile(desired: Desired, observed: Observed): Plan {
  const learned = learnedPrefixes(desired, observed);
  const isNews = learned.length !== observed.record.learned.length ||
    learned.some((prefix, index) => observed.record.learned[index]?.equals(prefix) !== true);
  const kernel: Step[] = [
    ...(isNews ? [{ do: "remember", change: { learned } } as const] : []),
    ...planKernel(desired, observed, clusterPrefixes(desired, learned)),
  ];
  const tailnet = planTailnet(desired, observed);
  const policy = planPolicy(desired, observed);
  return {
    ...tailnet,
    // Before a login: a tag nobody has declared is refused.
    steps: [...kernel, ...policy, ...tailnet.steps],
    conditions: [...nodeConditions(observed), ...tailnet.conditions],
  };
}

function planPolicy({ policy }: Desired, { headscale, memory }: Observed): Step[] {
  if (policy === undefined || headscale?.ok !== true) return [];
  return memory.policyLacks === undefined ? [{ do: "ensurePolicy", need: policy }] : [];
}

function policyCondition({ memory: { policyLacks = [] } }: Observed): Condition[] {
  if (policyLacks.length === 0) return [];
  const message = `the policy lacks: ${policyLacks.join("; ")}`;
  return [condition("PolicyLacks", message, "Add it to the file policy.path of Headscale names")];
}

function nodeConditions(observed: Observed): Condition[] {
  const { headscale, otherTailscaled } = observed;
  return [
    ...policyCondition(observed),
    ...(headscale?.ok === false ? [awayCondition(headscale.problem)] : []),
    ...(otherTailscaled === undefined ? [] : [
      condition(
        "OtherTailscaled",
        `another tailscaled is beside ours: ${otherTailscaled}`,
        "Use that one (tailscale.mode: host), run ours in a namespace of its own " +
          "(tailscale.isolation: netns), or stop it: systemctl disable --now tailscaled",
      ),
    ]),
  ];
}

function planTailnet(desired: Desired, observed: Observed): Plan {
  const { tailscaled, memory, headscale } = observed;
  if (!tailscaled.ok) {
    const { message, remedy } = tailscaled.problem;
    const helps = desired.mode === "host"
      ? remedy
      : "Nothing: ours is started again by itself; tailscaled.log in runtimeDir is what it said";
    const conditions = [condition("TailscaledAway", message, helps)];
    return { steps: [], conditions, wantsHeadscale: headscale === undefined, memory };
  }
  const view = tailscaled.value;
  const backend = judgeBackend(desired, view, observed);
  if (!backend.isRunning) {
    // Only a login needs Headscale; everything else here is between tailscaled and itself.
    const wantsHeadscale = view.status.state === "NeedsLogin" || headscale === undefined;
    const { steps, conditions } = backend;
    return { steps, conditions, wantsHeadscale, memory: { ...memory, unknownSinceMs: undefined } };
  }
  const approval = planApproval(desired, view, observed);
  const { record } = observed;
  return {
    steps: [
      ...backend.steps,
      ...planPrefs(desired, view, { mine: approval.mine, record }),
      ...approval.steps,
    ],
    conditions: [...backend.conditions, ...approval.conditions],
    wantsHeadscale: approval.wantsHeadscale || headscale === undefined,
    memory: approval.memory,
  };
}
