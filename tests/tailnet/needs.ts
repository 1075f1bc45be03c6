/** The real parts all tests here run with. */

import { HEADSCALE_VERSIONS, TAILSCALE_VERSION } from "../../tools/go_parts/parts.ts";
import { type BuiltPart, kernel, type Need, part, requires, root, tool } from "../requires.ts";

/** The current one. */
export const HEADSCALE_VERSION = HEADSCALE_VERSIONS.at(-1) ?? "";

export const headscale: BuiltPart = await part("headscale", HEADSCALE_VERSION);
export const tailscaled: BuiltPart = await part("tailscaled", TAILSCALE_VERSION);
export const tailscale: BuiltPart = await part("tailscale", TAILSCALE_VERSION);

const tun: Need = kernel("/dev/net/tun", () => {
  try {
    return Deno.statSync("/dev/net/tun").isCharDevice === true;
  } catch {
    return false;
  }
});

/** Options of every test here. Children may end after their test. */
export const NEEDS = {
  ...requires(
    root,
    headscale,
    tailscaled,
    tailscale,
    tun,
    tool("ip", "iproute2"),
    tool("nft", "nftables"),
    tool("nsenter", "util-linux"),
    tool("perl", "perl-base"),
    tool("ping", "iputils-ping"),
  ),
  sanitizeOps: false,
  sanitizeResources: false,
};
