/** The node forwards packets; without that no pod reaches anything. */

import { type NetlinkConnection } from "../../netlink/connection.ts";
import { readSysctl, writeSysctl } from "../../netlink/sysctl.ts";
import { type AttachmentPlan } from "./plan.ts";
import { keepUplinksLearning } from "./uplinks.ts";

const FORWARDING = { 4: "net/ipv4/ip_forward", 6: "net/ipv6/conf/all/forwarding" } as const;

/**
 * Lets the node forward packets of the families in `plan`; writes only what is not so yet. `route`
 * is of the node.
 */
export function enableForwarding(plan: AttachmentPlan, route: NetlinkConnection): void {
  for (const family of unforwarded(plan)) {
    if (family === 6) keepUplinksLearning(route);
    writeSysctl(FORWARDING[family], 1);
  }
}

/** The families of `plan` whose packets the node does not forward. */
export function unforwarded(plan: AttachmentPlan): readonly (4 | 6)[] {
  const families = new Set(plan.container.addresses.map(({ family }) => family));
  return [...families].filter((family) => readSysctl(FORWARDING[family]) !== "1");
}
