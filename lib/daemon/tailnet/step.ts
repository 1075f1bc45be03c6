/** What can be done about a difference: each step is data, small, and safe to do twice. */

import type { Family, Prefix } from "../../ip/mod.ts";
import type { OwnNode } from "../../headscale/mod.ts";
import type { PrefsEdit } from "../../tailscale/mod.ts";
import type { PolicyNeed } from "./desired.ts";
import type { RecordChange } from "./record.ts";

/** Which network namespace: the node's, or that of an isolated tailscaled. */
export type Where = "node" | "room";

/** A rule to be. */
export interface RuleWish {
  readonly family: Family;
  readonly priority: number;
  readonly table: number;
  readonly source?: Prefix;
  readonly destination?: Prefix;
}

/** One step. */
export type Step =
  /** Written down before what it is about is changed. */
  | { readonly do: "remember"; readonly change: RecordChange }
  | { readonly do: "joinRoom" }
  | { readonly do: "forward"; readonly where: Where; readonly family: Family }
  | { readonly do: "addRule" | "deleteRule"; readonly where: Where; readonly rule: RuleWish }
  | {
    readonly do: "addUnreachable" | "deleteUnreachable";
    readonly where: Where;
    readonly prefix: Prefix;
  }
  | { readonly do: "loadFilter" }
  | { readonly do: "setTunnels"; readonly names: readonly string[] }
  | { readonly do: "addCluster"; readonly prefixes: readonly Prefix[] }
  | { readonly do: "masqueradeRoom" }
  | { readonly do: "loadRoomFilter" }
  | { readonly do: "routeToRoom" | "routeFromRoom"; readonly prefixes: readonly Prefix[] }
  | { readonly do: "editPrefs"; readonly edit: PrefsEdit }
  /** `interactive`: a new key for the node has to be made, because it has none that is good. */
  | { readonly do: "login"; readonly edit: PrefsEdit; readonly interactive: boolean }
  | { readonly do: "restartTailscaled" }
  | { readonly do: "ensurePolicy"; readonly need: PolicyNeed }
  | {
    readonly do: "approve" | "withdraw" | "nudge";
    readonly own: OwnNode;
    readonly prefixes: readonly Prefix[];
  }
  | { readonly do: "yield"; readonly prefixes: readonly Prefix[] };

/** `step` in a few words, for the log and for people. */
export function describeStep(step: Step): string {
  switch (step.do) {
    case "forward":
      return `forward IPv${step.family} packets${at(step.where)}`;
    case "addRule":
    case "deleteRule":
      return `${step.do === "addRule" ? "add" : "delete"} rule ${describeRule(step.rule)}${
        at(step.where)
      }`;
    case "addUnreachable":
    case "deleteUnreachable": {
      const verb = step.do === "addUnreachable" ? "add" : "delete";
      return `${verb} unreachable route ${step.prefix}${at(step.where)}`;
    }
    case "setTunnels":
      return `clamp segments out of ${step.names.join(", ")}`;
    case "addCluster":
      return `do not masquerade to ${step.prefixes.join(", ")}`;
    case "routeToRoom":
      return `route ${step.prefixes.join(", ")} to our tailscaled`;
    case "routeFromRoom":
      return `route ${step.prefixes.join(", ")} from our tailscaled to the node`;
    case "editPrefs":
      return `change settings of tailscaled: ${Object.keys(step.edit).join(", ")}`;
    case "approve":
    case "withdraw":
    case "nudge":
      return `${PHRASES[step.do]} ${step.prefixes.join(", ")}`;
    case "yield":
      return `leave ${step.prefixes.join(", ")} to the node that has it`;
    default:
      return PHRASES[step.do];
  }
}

const PHRASES = {
  remember: "write down what will be changed",
  joinRoom: "join the namespace of our tailscaled",
  loadFilter: "load the packet filter",
  masqueradeRoom: "masquerade what our tailscaled sends",
  loadRoomFilter: "load the packet filter in the namespace of our tailscaled",
  login: "log in to the tailnet",
  ensurePolicy: "see that the policy of Headscale allows it",
  restartTailscaled: "restart our tailscaled",
  approve: "approve in Headscale",
  withdraw: "take back the approval in Headscale of",
  nudge: "approve anew in Headscale",
} as const;

function at(where: Where): string {
  return where === "room" ? " in the namespace of our tailscaled" : "";
}

function describeRule({ priority, source, destination, table }: RuleWish): string {
  const from = source === undefined ? "" : ` from ${source}`;
  const to = destination === undefined ? "" : ` to ${destination}`;
  return `${priority}:${from}${to} lookup ${table === 254 ? "main" : table}`;
}
