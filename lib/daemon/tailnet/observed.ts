/** What the tailnet part of a node is, as far as it was found out. */

import type { AddressRange, Family, Prefix } from "../../ip/mod.ts";
import type { HeadscaleNode } from "../../headscale/mod.ts";
import type { Prefs, TailscaledStatus } from "../../tailscale/mod.ts";
import type { TailnetRecord } from "./record.ts";

/** Why something is not known. */
export interface Problem {
  /** `kind` of the error, to tell a refusal from an absence. */
  readonly kind: string;
  readonly message: string;
  readonly remedy: string | undefined;
}

/** What was asked for, or why there is no answer. */
export type Answer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: Problem };

/** What tailscaled says. */
export interface TailscaledView {
  readonly status: TailscaledStatus;
  readonly prefs: Prefs;
}

/** A rule of ours, or in our range, as far as it matters here. */
export interface RuleView {
  readonly family: Family;
  readonly priority: number;
  readonly table: number;
  readonly source: Prefix | undefined;
  readonly destination: Prefix | undefined;
  /** Made by this program. */
  readonly isOurs: boolean;
}

/** The packet filter. */
export interface FilterView {
  readonly isLoaded: boolean;
  readonly tunnels: readonly string[];
  /** Networks pods reach under their own address. */
  readonly cluster: readonly AddressRange[];
}

/** One network namespace. */
export interface KernelView {
  /** The tunnel, if it is here. */
  readonly tunnel: { readonly mtu: number; readonly isUp: boolean } | undefined;
  readonly rules: readonly RuleView[];
  /** Destinations of our unreachable routes. */
  readonly unreachable: readonly Prefix[];
  /** Families whose packets are forwarded. */
  readonly forwards: readonly Family[];
}

/** The namespace of an isolated tailscaled, and its cable. */
export interface RoomView {
  /** Namespace and cable are there. */
  readonly isJoined: boolean;
  /** Prefixes the node sends through the cable. */
  readonly routes: readonly Prefix[];
  /** Prefixes the namespace sends back through it. */
  readonly routesBack: readonly Prefix[];
  /** The node masquerades what tailscaled sends. */
  readonly isMasqueraded: boolean;
  /** The packet filter inside is loaded. */
  readonly isFilterLoaded: boolean;
  /** Inside. */
  readonly kernel: KernelView;
}

/** Everything. */
export interface Observed {
  /** Of the monotonic clock, as all times of {@linkcode Memory}. */
  readonly nowMs: number;
  /** Milliseconds since 1970. */
  readonly wallMs: number;
  readonly tailscaled: Answer<TailscaledView>;
  /** `undefined`: not asked yet. */
  readonly headscale: Answer<readonly HeadscaleNode[]> | undefined;
  /** When it was asked. */
  readonly headscaleAtMs: number;
  readonly node: KernelView;
  readonly filter: FilterView;
  /** In isolation only. */
  readonly room: RoomView | undefined;
  /** What speaks for another tailscaled beside ours. */
  readonly otherTailscaled: string | undefined;
  readonly record: TailnetRecord;
  readonly memory: Memory;
}

/** What this process remembers between two looks. */
export interface Memory {
  /** Since when a login runs. */
  readonly loginSinceMs: number | undefined;
  /** Since when our prefixes are approved and not primary. */
  readonly notPrimarySinceMs: number | undefined;
  /** When the approval was last taken back and given again. */
  readonly nudgedAtMs: number | undefined;
  /** Since when tailscaled does not say that our prefixes are in use. */
  readonly untoldSinceMs: number | undefined;
  /** Since when Headscale does not know this node. */
  readonly unknownSinceMs: number | undefined;
  /** When our tailscaled was last restarted because its interface was gone. */
  readonly restartedAtMs: number | undefined;
  /** What the policy lacks and only its administrator can add; `undefined`: not looked at yet. */
  readonly policyLacks: readonly string[] | undefined;
  /** Prefixes left to another node for as long as it has them. */
  readonly yielded: readonly Prefix[];
}

/** The memory of a process that has just started. */
export const NO_MEMORY: Memory = {
  loginSinceMs: undefined,
  notPrimarySinceMs: undefined,
  nudgedAtMs: undefined,
  untoldSinceMs: undefined,
  unknownSinceMs: undefined,
  restartedAtMs: undefined,
  policyLacks: undefined,
  yielded: [],
};
