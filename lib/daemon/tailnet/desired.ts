/** What the tailnet part of a node should be. */

import type { Prefix } from "../../ip/mod.ts";

/** Whose tailscaled carries the packets: the machine's own, or one this program runs. */
export type Mode = "host" | "daemon";

/** Where our own tailscaled runs: in the node's network namespace, or in one of its own. */
export type IsolationKind = "none" | "netns";

/** Nodes with this tag may route these networks, and all may talk. */
export interface PolicyNeed {
  readonly tag: string;
  readonly prefixes: readonly Prefix[];
}

/** The wish. It changes only with the configuration. */
export interface Desired {
  readonly mode: Mode;
  readonly isolation: IsolationKind;
  /** Name of the tunnel's interface. */
  readonly tun: string;
  /** This node's pod networks, at most one of each family. */
  readonly prefixes: readonly Prefix[];
  /**
   * Where the pod networks of all nodes are taken from. Without it every route of a peer counts
   * as a pod network: nothing tells them apart.
   */
  readonly base: readonly Prefix[];
  /** The URL of Headscale, as tailscaled is told it. */
  readonly controlUrl: string;
  /** What the policy of the tailnet must have; `undefined`: it is left alone. */
  readonly policy: PolicyNeed | undefined;
  /** Name of the node in the tailnet; tailscaled's choice if absent. */
  readonly hostname: string | undefined;
}
