/** Prefixes with a fixed meaning. Made from numbers: nothing is parsed when this loads. */

import { IpAddress } from "./address.ts";
import { Prefix } from "./prefix.ts";

function ipv4(value: bigint, length: number): Prefix {
  return new Prefix(new IpAddress(4, value), length);
}

function ipv6(value: bigint, length: number): Prefix {
  return new Prefix(new IpAddress(6, value), length);
}

/** `0.0.0.0/0`: the IPv4 default route. */
export const IPV4_ANY: Prefix = ipv4(0n, 0);

/** `::/0`: the IPv6 default route. */
export const IPV6_ANY: Prefix = ipv6(0n, 0);

/**
 * `100.64.0.0/10`: node addresses of a tailnet. Shared address space (RFC 6598) that
 * Tailscale and Headscale number from.
 */
export const TAILNET_IPV4: Prefix = ipv4(0x6440_0000n, 10);

/** `fd7a:115c:a1e0::/48`: node addresses of a tailnet, Tailscale's unique local prefix. */
export const TAILNET_IPV6: Prefix = ipv6(0xfd7a_115c_a1e0n << 80n, 48);

/** `127.0.0.0/8`, RFC 1122 section 3.2.1.3. */
export const LOOPBACK_IPV4: Prefix = ipv4(0x7f00_0000n, 8);

/** `::1/128`, RFC 4291 section 2.5.3. */
export const LOOPBACK_IPV6: Prefix = ipv6(1n, 128);

/** `169.254.0.0/16`, RFC 3927; cloud metadata services live here. */
export const LINK_LOCAL_IPV4: Prefix = ipv4(0xa9fe_0000n, 16);

/** `fe80::/10`, RFC 4291 section 2.5.6. */
export const LINK_LOCAL_IPV6: Prefix = ipv6(0xfe80n << 112n, 10);

/** `224.0.0.0/4`, RFC 5771. */
export const MULTICAST_IPV4: Prefix = ipv4(0xe000_0000n, 4);

/** `ff00::/8`, RFC 4291 section 2.7. */
export const MULTICAST_IPV6: Prefix = ipv6(0xffn << 120n, 8);
