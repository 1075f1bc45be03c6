/** Prefixes with a fixed meaning. Made from numbers: nothing is parsed when this loads. */

import { IpAddress } from "./address.ts";
import { Prefix } from "./prefix.ts";

/**
 * `100.64.0.0/10`: node addresses of a tailnet. Shared address space (RFC 6598) that
 * Tailscale and Headscale number from.
 */
export const TAILNET_IPV4: Prefix = new Prefix(new IpAddress(4, 0x6440_0000n), 10);

/** `fd7a:115c:a1e0::/48`: node addresses of a tailnet, Tailscale's unique local prefix. */
export const TAILNET_IPV6: Prefix = new Prefix(new IpAddress(6, 0xfd7a_115c_a1e0n << 80n), 48);
