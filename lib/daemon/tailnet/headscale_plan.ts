/** What Headscale should be told about our node: pure decisions. */

import type { Prefix } from "../../ip/mod.ts";
import {
  type HeadscaleNode,
  mergeApproved as union,
  type PrefixRefusal,
  refusedPrefixes,
} from "../../headscale/mod.ts";
import { has, minus } from "./cluster.ts";
import { type Condition, condition } from "./condition.ts";
import type { Desired } from "./desired.ts";
import type { Memory, Observed, Problem, TailscaledView } from "./observed.ts";
import type { Step } from "./step.ts";
import { loginSteps, notRouted } from "./tailscaled_plan.ts";

/** A node that is approved becomes primary within this time; later, the server forgot it. */
const PRIMARY_LIMIT_MS = 30_000;
const NUDGE_PAUSE_MS = 5 * 60_000;
/** Reported only then: between approval and the next map it is always so. */
const PRIMARY_GRACE_MS = 10_000;
/** A list from before a login may not have the node yet. */
const UNKNOWN_GRACE_MS = 3000;

const AWAY: ReadonlySet<string> = new Set(["Unreachable", "Deadline", "Failed"]);

/** The decision, and what to remember of it. */
export interface ApprovalPlan {
  readonly steps: readonly Step[];
  readonly conditions: readonly Condition[];
  /** Headscale has to be asked again before more can be decided. */
  readonly wantsHeadscale: boolean;
  readonly memory: Memory;
  /** Prefixes that may be advertised. */
  readonly mine: readonly Prefix[];
}

/** Why Headscale could not be asked, as a condition. */
export function awayCondition(problem: Problem): Condition {
  return condition(
    AWAY.has(problem.kind) ? "HeadscaleAway" : "HeadscaleRefuses",
    problem.message,
    problem.remedy,
  );
}

/**
 * Decides about approval. Only our node, only our prefixes: what others have approved stays.
 */
export function planApproval(
  desired: Desired,
  view: TailscaledView,
  observed: Observed,
): ApprovalPlan {
  const { headscale, memory, nowMs } = observed;
  const { self } = view.status;
  const nodes = headscale?.ok ? headscale.value : undefined;
  const refusals = nodes === undefined ? [] : refusedPrefixes(desired.prefixes, self.id, nodes);
  const conflicting = union([], refusals.map(({ prefix }) => prefix));
  const node = nodes?.find(({ id }) => id === self.id);
  const lost = conflicting.filter((prefix) =>
    node !== undefined && has(node.approved, prefix) &&
    !has([...self.primaryRoutes, ...node.primary ?? []], prefix)
  );
  // Known conflicts only end when Headscale says so.
  const before = nodes === undefined
    ? memory.yielded
    : memory.yielded.filter((prefix) => has(conflicting, prefix));
  const mine = minus(desired.prefixes, union(before, lost));
  const untold = notRouted(view, mine);
  const missing = node === undefined ? untold : notServed(view, node, mine);
  const base = { mine, conditions: refusals.map(conflictCondition), steps: [] as Step[] };
  const untoldSinceMs = untold.length === 0 ? undefined : memory.untoldSinceMs ?? nowMs;
  const remembered = { ...memory, yielded: before, loginSinceMs: undefined, untoldSinceMs };
  if (lost.length > 0 && node !== undefined) {
    // Approved by a policy: were the other node away for a moment, its pods' packets came here.
    const own = { id: self.id, nodeKey: self.publicKey };
    const steps: Step[] = [{ do: "yield", prefixes: lost }, {
      do: "withdraw",
      own,
      prefixes: lost,
    }];
    return { ...base, steps, wantsHeadscale: false, memory: remembered };
  }
  if (nodes !== undefined && node === undefined) {
    return unknownNode(desired, view, {
      observed,
      mine,
      conditions: base.conditions,
      memory: remembered,
    });
  }
  if (missing.length === 0) {
    const memory = { ...remembered, notPrimarySinceMs: undefined, unknownSinceMs: undefined };
    // What it said before tailscaled lost something may not be so any more.
    const isOld = untoldSinceMs !== undefined && observed.headscaleAtMs < untoldSinceMs;
    return { ...base, wantsHeadscale: isOld, memory };
  }
  if (node === undefined) return { ...base, wantsHeadscale: true, memory: remembered };
  return approveNode(observed, {
    ...base,
    node,
    nodeKey: self.publicKey,
    conflicting,
    missing,
    memory: remembered,
  });
}

/** Deleted in Headscale: tailscaled is not told, and stays where it is with its last map. */
function unknownNode(
  desired: Desired,
  view: TailscaledView,
  context: Pick<ApprovalPlan, "mine" | "conditions" | "memory"> & { readonly observed: Observed },
): ApprovalPlan {
  const { observed, mine, conditions, memory } = context;
  const unknownSinceMs = memory.unknownSinceMs ?? observed.nowMs;
  const isSure = observed.nowMs - unknownSinceMs >= UNKNOWN_GRACE_MS;
  return {
    mine,
    steps: isSure && desired.mode === "daemon" ? loginSteps(desired, view, observed) : [],
    conditions: [...conditions, unknownCondition(desired, view)],
    wantsHeadscale: true,
    memory: { ...memory, loginSinceMs: observed.memory.loginSinceMs, unknownSinceMs },
  };
}

/**
 * Prefixes that do not come here. Headscale 0.29 sometimes forgets to tell a node what it tells
 * all others, of an approval and of its end: that it is approved counts, and that one of the two
 * says it is in use.
 */
function notServed(
  { status }: TailscaledView,
  node: HeadscaleNode,
  mine: readonly Prefix[],
): readonly Prefix[] {
  const used = [...status.self.primaryRoutes, ...node.primary ?? []];
  return mine.filter((prefix) => !has(node.approved, prefix) || !has(used, prefix));
}

interface NodeContext {
  readonly node: HeadscaleNode;
  /** As tailscaled has it. */
  readonly nodeKey: string;
  readonly mine: readonly Prefix[];
  readonly missing: readonly Prefix[];
  readonly conflicting: readonly Prefix[];
  readonly conditions: readonly Condition[];
  readonly memory: Memory;
}

function approveNode(observed: Observed, context: NodeContext): ApprovalPlan {
  const { node, nodeKey, mine, missing, conflicting, conditions } = context;
  const memory = { ...context.memory, unknownSinceMs: undefined };
  const own = { id: node.id, nodeKey };
  const plan = { mine, wantsHeadscale: true };
  if (node.nodeKey !== nodeKey) {
    const message = `node ${node.id} (${node.givenName}) of Headscale has another key`;
    const remedy = "tailscaled may be logged in to another server: compare tailscale debug prefs " +
      "(ControlURL) with headscale.url";
    const wrong = condition("NotOurNode", message, remedy);
    return { ...plan, steps: [], conditions: [...conditions, wrong], memory };
  }
  const open = minus(missing, conflicting);
  const unapproved = minus(open, node.approved);
  if (unapproved.length > 0) {
    const approved = union(observed.record.approved, unapproved);
    const isKnown = approved.length === observed.record.approved.length;
    const message = `Headscale has not approved ${unapproved.join(", ")} yet`;
    return {
      ...plan,
      steps: [
        ...(isKnown ? [] : [{ do: "remember", change: { approved } } as const]),
        { do: "approve", own, prefixes: unapproved },
      ],
      conditions: [...conditions, condition("NotApproved", message)],
      memory: { ...memory, notPrimarySinceMs: undefined },
    };
  }
  if (open.length === 0) return { ...plan, steps: [], conditions, memory };
  return { ...plan, ...waitForPrimary(observed, { ...context, memory, open, own }) };
}

/** Approved, but nobody is told: usually for a moment only, sometimes for ever (headscale#3203). */
function waitForPrimary(
  { nowMs }: Observed,
  context: NodeContext & {
    readonly open: readonly Prefix[];
    readonly own: { readonly id: string; readonly nodeKey: string };
  },
): Pick<ApprovalPlan, "steps" | "conditions" | "memory"> {
  const { memory, open, own, conditions } = context;
  const since = memory.notPrimarySinceMs ?? nowMs;
  const waitedMs = nowMs - since;
  const isRested = nowMs - (memory.nudgedAtMs ?? -Infinity) >= NUDGE_PAUSE_MS;
  const message = `${open.join(", ")} is approved for this node, but Headscale tells nobody`;
  const found = waitedMs < PRIMARY_GRACE_MS
    ? condition("NotApproved", message)
    : condition("NotPrimary", message, "headscale nodes list-routes; is the node online there?");
  return {
    steps: waitedMs >= PRIMARY_LIMIT_MS && isRested ? [{ do: "nudge", own, prefixes: open }] : [],
    conditions: [...conditions, found],
    memory: { ...memory, notPrimarySinceMs: since },
  };
}

function conflictCondition({ prefix, reason, node }: PrefixRefusal): Condition {
  const remedy = "Choose another pod CIDR for one of the two nodes" +
    (node === undefined
      ? ""
      : `; if ${node.givenName} is gone for good: headscale nodes delete -i ${node.id}`);
  return condition("PrefixConflict", `${prefix} is this node's, but ${reason}`, remedy);
}

function unknownCondition(desired: Desired, { prefs, status }: TailscaledView): Condition {
  const id = status.self.id;
  if (bareUrl(prefs.controlUrl) !== bareUrl(desired.controlUrl)) {
    const message = `tailscaled is logged in to ${prefs.controlUrl || "Tailscale"}, ` +
      `and ${desired.controlUrl} knows no node ${id}`;
    const remedy = `tailscale up --login-server=${desired.controlUrl}, or correct headscale.url`;
    return condition("OtherControlServer", message, remedy);
  }
  const remedy = desired.mode === "daemon"
    ? "Nothing: the node logs in again"
    : `tailscale up --force-reauth --login-server=${desired.controlUrl}`;
  return condition("UnknownNode", `Headscale knows no node ${id}; it was deleted there`, remedy);
}

function bareUrl(url: string): string {
  return url.replace(/\/+$/, "");
}
