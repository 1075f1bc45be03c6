/** What tailscaled says about itself and its peers (`ipn/ipnstate` of Tailscale). */

import { type IpAddress, parseAddress, parsePrefix, type Prefix } from "../ip/mod.ts";
import { type JsonView, parseJsonView } from "../sys/json_view.ts";

const STATES = [
  "NoState",
  "InUseOtherUser",
  "NeedsLogin",
  "NeedsMachineAuth",
  "Stopped",
  "Starting",
  "Running",
] as const;

/** `ipn.State` by name; `Unknown` is one that a newer tailscaled has. */
export type BackendState = typeof STATES[number] | "Unknown";

/** This node, or a peer. */
export interface TailnetNode {
  /** With Headscale, its node id in decimal. Empty while logged out. */
  readonly id: string;
  /** `nodekey:…`, public. */
  readonly publicKey: string;
  readonly hostName: string;
  /** Fully qualified, with a dot at the end; empty without MagicDNS. */
  readonly dnsName: string;
  readonly os: string;
  readonly addresses: readonly IpAddress[];
  /** What WireGuard accepts from it and sends to it. */
  readonly allowedPrefixes: readonly Prefix[];
  /**
   * Routes it is the chosen router of: advertised, approved and in use. Of this node itself
   * some may be missing: Headscale 0.29.2 tells it with its next report only, peers at once.
   */
  readonly primaryRoutes: readonly Prefix[];
  readonly tags: readonly string[];
  /** Connected to the control server; says nothing about whether it can be reached. */
  readonly online: boolean;
  readonly active: boolean;
  /** Where packets go now, `address:port`; `undefined` when relayed or idle. */
  readonly directEndpoint: string | undefined;
  /** Code of its home relay. */
  readonly relay: string | undefined;
  readonly receivedBytes: number;
  readonly sentBytes: number;
  /** Milliseconds since 1970; `undefined`: never. Handshakes come with traffic, not before. */
  readonly lastHandshakeMs: number | undefined;
  /** When its key expires, likewise; `undefined`: never. */
  readonly keyExpiryMs: number | undefined;
  readonly expired: boolean;
}

/** The tailnet this node is in. */
export interface TailnetName {
  readonly name: string;
  readonly magicDnsSuffix: string;
  readonly magicDnsEnabled: boolean;
}

/** `GET /localapi/v0/status`. */
export interface TailscaledStatus {
  /** Of tailscaled, such as `1.102.3-t0123…`. */
  readonly version: string;
  /** Whether packets go through an interface of the kernel. */
  readonly tun: boolean;
  readonly state: BackendState;
  /** It has logged in before and can again without a key. */
  readonly haveNodeKey: boolean;
  /** Where a person has to log in. */
  readonly authUrl: string | undefined;
  readonly addresses: readonly IpAddress[];
  readonly self: TailnetNode;
  readonly peers: readonly TailnetNode[];
  /** Warnings for people. */
  readonly health: readonly string[];
  readonly tailnet: TailnetName | undefined;
}

/**
 * The status in the JSON `text`.
 *
 * @throws {JsonShapeError} naming the key that is wrong.
 */
export function parseStatus(text: string): TailscaledStatus {
  const view = parseJsonView(text, "the status of tailscaled");
  const tailnet = view.object("CurrentTailnet");
  return {
    version: view.text("Version"),
    tun: view.flag("TUN"),
    state: STATES.find((state) => state === view.text("BackendState")) ?? "Unknown",
    haveNodeKey: view.flag("HaveNodeKey"),
    authUrl: view.optionalText("AuthURL"),
    addresses: view.parsedTexts("TailscaleIPs", parseAddress),
    self: readNode(view.required("Self")),
    peers: view.members("Peer").map(readNode),
    health: view.texts("Health"),
    tailnet: tailnet === undefined ? undefined : {
      name: tailnet.optionalText("Name") ?? "",
      magicDnsSuffix: tailnet.optionalText("MagicDNSSuffix") ?? "",
      magicDnsEnabled: tailnet.flag("MagicDNSEnabled"),
    },
  };
}

function readNode(view: JsonView): TailnetNode {
  return {
    id: view.optionalText("ID") ?? "",
    publicKey: view.text("PublicKey"),
    hostName: view.optionalText("HostName") ?? "",
    dnsName: view.optionalText("DNSName") ?? "",
    os: view.optionalText("OS") ?? "",
    addresses: view.parsedTexts("TailscaleIPs", parseAddress),
    allowedPrefixes: view.parsedTexts("AllowedIPs", parsePrefix),
    primaryRoutes: view.parsedTexts("PrimaryRoutes", parsePrefix),
    tags: view.texts("Tags"),
    online: view.flag("Online"),
    active: view.flag("Active"),
    directEndpoint: view.optionalText("CurAddr"),
    relay: view.optionalText("Relay"),
    receivedBytes: view.number("RxBytes"),
    sentBytes: view.number("TxBytes"),
    lastHandshakeMs: view.parsed("LastHandshake", parseTime),
    keyExpiryMs: view.parsed("KeyExpiry", parseTime),
    expired: view.flag("Expired"),
  };
}

/** Go's zero time, year 1, stands for "never". */
function parseTime(text: string): number | undefined {
  const ms = Date.parse(text);
  return Number.isNaN(ms) || ms < 0 ? undefined : ms;
}
