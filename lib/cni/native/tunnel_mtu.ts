/** The MTU of pods, when the configuration leaves it to the tunnel. */

import { type NetlinkConnection } from "../../netlink/connection.ts";
import { findLink } from "../../netlink/link.ts";
import { type Mode } from "../plugin_config.ts";

/** The tunnel's interface in each mode. */
export const TUNNEL_INTERFACES: Readonly<Record<Mode, string>> = {
  host: "tailscale0",
  daemon: "headcni01",
};

/** What Tailscale's own tunnel has, and the least IPv6 works with (RFC 8200, section 5). */
export const DEFAULT_MTU = 1280;

/** The MTU of the tunnel of `mode`; its default while there is no tunnel yet. */
export function tunnelMtu(host: NetlinkConnection, mode: Mode): number {
  return findLink(host, { name: TUNNEL_INTERFACES[mode] })?.mtu ?? DEFAULT_MTU;
}
