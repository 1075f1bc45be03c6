/** Network configurations as a runtime would pass them. */

import { type Json } from "./namespace.ts";

/** All versions of the specification, oldest first. */
export const VERSIONS = ["0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"] as const;

/** The subnets of the tests. */
export const SUBNET4 = "10.83.0.0/24";
export const SUBNET6 = "fd83::/64";

/** What a pod may have. */
export type Stack = "IPv4" | "IPv6" | "dual-stack";

/** All of them, for tables of tests. */
export const STACKS: readonly Stack[] = ["IPv4", "IPv6", "dual-stack"];

/** The subnets of a stack. */
export function subnetsOf(stack: Stack): readonly string[] {
  return { "IPv4": [SUBNET4], "IPv6": [SUBNET6], "dual-stack": [SUBNET4, SUBNET6] }[stack];
}

/** Our own IPAM; released addresses are free at once, so that nothing is left of them. */
export function ipam(subnets: readonly string[], more: Json = {}): Json {
  return {
    type: "headcni-ipam",
    ranges: subnets.map((subnet) => [{ subnet }]),
    routes: subnets.map((subnet) => ({ dst: subnet.includes(":") ? "::/0" : "0.0.0.0/0" })),
    cooldown: 0,
    ...more,
  };
}

/** A configuration of the newest version for `stack`; `more` replaces keys. */
export function configOf(stack: Stack = "IPv4", more: Json = {}): Json {
  return {
    cniVersion: "1.1.0",
    name: "testnet",
    type: "headcni",
    ipam: ipam(subnetsOf(stack)),
    ...more,
  };
}
