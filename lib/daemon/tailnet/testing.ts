/**
 * A healthy node as data, for tests of the decisions.
 *
 * @module
 */

import { parseAddress, parsePrefix, type Prefix, wholeRange } from "../../ip/mod.ts";
import type { HeadscaleNode } from "../../headscale/mod.ts";
import { RT_TABLE_MAIN } from "../../netlink/constants/rtnetlink.ts";
import type { Prefs, TailnetNode, TailscaledStatus } from "../../tailscale/mod.ts";
import type { Desired } from "./desired.ts";
import { type KernelView, NO_MEMORY, type Observed, type TailscaledView } from "./observed.ts";
import { EMPTY_RECORD } from "./record.ts";

/** Prefixes of texts. */
export function prefixes(...texts: readonly string[]): Prefix[] {
  return texts.map((text) => parsePrefix(text));
}

/** This node's pods, in both families. */
export const PODS: readonly Prefix[] = prefixes("10.244.1.0/24", "fd44:0:0:1::/64");

/** A wish; `more` replaces parts. */
export function desiredNode(more: Partial<Desired> = {}): Desired {
  return {
    mode: "daemon",
    isolation: "none",
    tun: "headcni01",
    prefixes: PODS,
    base: prefixes("10.244.0.0/16", "fd44::/48"),
    controlUrl: "https://headscale.example.com",
    policy: undefined,
    hostname: undefined,
    ...more,
  };
}

/** A node of the tailnet as tailscaled sees it. */
export function tailnetNode(more: Partial<TailnetNode> = {}): TailnetNode {
  return {
    id: "1",
    publicKey: "nodekey:one",
    hostName: "one",
    dnsName: "",
    os: "linux",
    addresses: [parseAddress("100.64.0.1")],
    allowedPrefixes: [],
    primaryRoutes: PODS,
    tags: [],
    online: true,
    active: false,
    directEndpoint: undefined,
    relay: undefined,
    receivedBytes: 0,
    sentBytes: 0,
    lastHandshakeMs: undefined,
    keyExpiryMs: undefined,
    expired: false,
    ...more,
  };
}

/** A node as Headscale sees it. */
export function headscaleNode(more: Partial<HeadscaleNode> = {}): HeadscaleNode {
  return {
    id: "1",
    nodeKey: "nodekey:one",
    hostname: "one",
    givenName: "one",
    user: "headcni",
    addresses: [],
    tags: [],
    online: true,
    expiresAtMs: undefined,
    advertised: PODS,
    approved: PODS,
    primary: PODS,
    ...more,
  };
}

/** tailscaled as it should be. */
export function tailscaledView(
  more: { readonly status?: Partial<TailscaledStatus>; readonly prefs?: Partial<Prefs> } = {},
): TailscaledView {
  return {
    status: {
      version: "1.102.3",
      tun: true,
      state: "Running",
      haveNodeKey: true,
      authUrl: undefined,
      addresses: [parseAddress("100.64.0.1")],
      self: tailnetNode(),
      peers: [],
      health: [],
      tailnet: undefined,
      ...more.status,
    },
    prefs: {
      controlUrl: "https://headscale.example.com",
      wantRunning: true,
      loggedOut: false,
      routeAll: true,
      corpDns: false,
      shieldsUp: false,
      hostname: "",
      advertiseRoutes: PODS,
      advertiseTags: [],
      noSnat: true,
      noStatefulFiltering: true,
      netfilterMode: "off",
      operatorUser: "",
      autoUpdateCheck: false,
      ...more.prefs,
    },
  };
}

/** The kernel of a node as it should be. */
export function kernelView(more: Partial<KernelView> = {}): KernelView {
  return {
    tunnel: { mtu: 1280, isUp: true },
    rules: PODS.map((destination) => ({
      family: destination.family,
      priority: 5105,
      table: RT_TABLE_MAIN,
      source: undefined,
      destination,
      isOurs: true,
    })),
    unreachable: [...PODS, ...prefixes("10.244.0.0/16", "fd44::/48")],
    forwards: [4, 6],
    ...more,
  };
}

/** A node on which there is nothing to do; `more` replaces parts. */
export function observedNode(more: Partial<Observed> = {}): Observed {
  return {
    nowMs: 1_000_000,
    wallMs: 1_800_000_000_000,
    tailscaled: { ok: true, value: tailscaledView() },
    headscale: { ok: true, value: [headscaleNode()] },
    headscaleAtMs: 999_000,
    node: kernelView(),
    filter: {
      isLoaded: true,
      tunnels: ["tailscale0", "headcni01"],
      cluster: prefixes("10.244.0.0/16", "fd44::/48").map(wholeRange),
    },
    room: undefined,
    otherTailscaled: undefined,
    record: EMPTY_RECORD,
    memory: NO_MEMORY,
    ...more,
  };
}
