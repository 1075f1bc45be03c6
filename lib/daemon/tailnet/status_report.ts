/** What `headcni tailnet status` prints: a look at everything, and what is wrong. */

import { isWorking } from "./condition.ts";
import type { LoopContext } from "./loop.ts";
import { askHeadscale, askTailscaled } from "./observe_tailnet.ts";
import { NO_MEMORY, type Observed } from "./observed.ts";
import { reconcile } from "./reconcile.ts";
import { readRecord } from "./record.ts";
import { describeStep } from "./step.ts";

/** The status; the keys stay. */
export interface TailnetStatus {
  readonly mode: string;
  readonly isolation: string;
  /** Whether pods of this node and of others are expected to reach each other. */
  readonly working: boolean;
  readonly podCIDRs: readonly string[];
  readonly tunnel: { readonly name: string; readonly mtu: number | null };
  readonly node: {
    readonly id: string;
    readonly state: string;
    readonly addresses: readonly string[];
    readonly routes: readonly string[];
    readonly keyExpiry: string | null;
    readonly version: string;
  } | null;
  readonly peers: readonly {
    readonly id: string;
    readonly name: string;
    readonly online: boolean;
    readonly addresses: readonly string[];
    readonly routes: readonly string[];
    /** `address:port` when direct, `relay CODE` when not, `null` while idle. */
    readonly path: string | null;
  }[];
  readonly conditions: readonly {
    readonly code: string;
    readonly severity: string;
    readonly message: string;
    readonly remedy: string | null;
  }[];
  /** Questions to Headscale for this status, and how long the slowest took. */
  readonly headscale: { readonly requests: number; readonly slowestMs: number };
  /** What the loop would do now; empty in a healthy node. */
  readonly pending: readonly string[];
  /** Warnings of tailscaled itself. */
  readonly health: readonly string[];
}

/** Looks, and changes nothing. */
export async function readStatus(context: LoopContext): Promise<TailnetStatus> {
  const { desired, api, headscale, kernel, files, recordPath, clock } = context;
  const [tailscaled, nodes] = await Promise.all([askTailscaled(api), askHeadscale(headscale)]);
  const observed: Observed = {
    nowMs: clock.monotonicMs(),
    wallMs: clock.now(),
    tailscaled,
    headscale: nodes,
    headscaleAtMs: clock.monotonicMs(),
    node: kernel.view(desired.tun),
    filter: kernel.filterView(),
    room: desired.isolation === "netns" ? kernel.roomView(desired.tun) : undefined,
    otherTailscaled: undefined,
    record: readRecord(files, recordPath),
    // Whether the policy has all, only an attempt to add to it tells.
    memory: { ...NO_MEMORY, policyLacks: [] },
  };
  const { conditions, steps } = reconcile(desired, observed);
  const status = tailscaled.ok ? tailscaled.value.status : undefined;
  const tunnel = (observed.room?.kernel ?? observed.node).tunnel;
  return {
    mode: desired.mode,
    isolation: desired.isolation,
    working: isWorking(conditions),
    podCIDRs: desired.prefixes.map(String),
    tunnel: { name: desired.tun, mtu: tunnel?.mtu ?? null },
    node: status === undefined ? null : {
      id: status.self.id,
      state: status.state,
      addresses: status.addresses.map(String),
      routes: status.self.primaryRoutes.map(String),
      keyExpiry: status.self.keyExpiryMs === undefined
        ? null
        : new Date(status.self.keyExpiryMs).toISOString(),
      version: status.version,
    },
    peers: (status?.peers ?? []).map(({ directEndpoint, active, relay, ...peer }) => ({
      id: peer.id,
      name: peer.hostName,
      online: peer.online,
      addresses: peer.addresses.map(String),
      routes: peer.primaryRoutes.map(String),
      path: directEndpoint ?? (active && relay !== undefined ? `relay ${relay}` : null),
    })),
    conditions: conditions.map(({ remedy, ...rest }) => ({ ...rest, remedy: remedy ?? null })),
    headscale: {
      requests: context.latency.rows().reduce((sum, { count }) => sum + count, 0),
      slowestMs: Math.round(context.latency.slowestS() * 1000),
    },
    pending: steps.map(describeStep),
    health: status?.health ?? [],
  };
}
