/**
 * What is not as it should be, as data: `headcni tailnet status`, later doctor and metrics, show
 * the same.
 */

/**
 * - `error`: pods of this node and of others cannot reach each other.
 * - `warning`: they can, but something is wrong or will be.
 * - `info`: on its way.
 */
export type Severity = "error" | "warning" | "info";

/** Every code with its severity and what it is about; `docs/tailnet.md` is made of the same. */
export const CONDITIONS = {
  TailscaledAway: ["error", "tailscaled does not answer"],
  TailscaledStarting: ["info", "tailscaled is starting, or reaches no relay and no peer yet"],
  NoTunnel: ["error", "tailscaled runs, but its interface is gone"],
  UserspaceOnly: ["error", "tailscaled has no interface in the kernel"],
  LoggedOut: ["error", "the node is not logged in to the tailnet"],
  LoginRunning: ["info", "the node is logging in"],
  Stopped: ["error", "tailscaled was told to be down"],
  OtherControlServer: [
    "error",
    "tailscaled is logged in to another server than the configured one",
  ],
  NotOurNode: ["error", "Headscale's node of this id has another key"],
  UnknownNode: ["error", "Headscale does not know this node"],
  HeadscaleAway: ["warning", "Headscale does not answer; what runs keeps running"],
  HeadscaleRefuses: ["warning", "Headscale answers, but not to what it is asked"],
  PrefixConflict: ["error", "another node has the same pod network, or part of it"],
  NotApproved: ["info", "the pod network is not approved yet"],
  NotPrimary: ["error", "the pod network is approved, but nobody is told to send it here"],
  PolicyLacks: ["warning", "the policy lacks something, and is in a file on the server"],
  ShieldsUp: ["warning", "tailscaled refuses what comes in (shields up)"],
  KeyExpires: ["warning", "the node's key expires soon"],
  OtherTailscaled: ["error", "another tailscaled is in the same network namespace"],
  NoPacketFilter: ["warning", "the packet filter is not loaded"],
  StepFailed: ["error", "something that has to be done cannot be done"],
} as const satisfies Readonly<Record<string, readonly [Severity, string]>>;

/** A code of {@linkcode CONDITIONS}. */
export type ConditionCode = keyof typeof CONDITIONS;

/** One thing that is not as it should be. */
export interface Condition {
  readonly code: ConditionCode;
  readonly severity: Severity;
  /** What exactly, for people. */
  readonly message: string;
  /** What helps. */
  readonly remedy: string | undefined;
}

/** The condition `code`, with what exactly is wrong and what helps. */
export function condition(code: ConditionCode, message: string, remedy?: string): Condition {
  return { code, severity: CONDITIONS[code][0], message, remedy };
}

/** Whether traffic between nodes is expected to work. */
export function isWorking(conditions: readonly Condition[]): boolean {
  return !conditions.some(({ severity, code }) =>
    severity === "error" || code === "LoginRunning" || code === "TailscaledStarting" ||
    code === "NotApproved"
  );
}
