/** Kernel objects as lines in the manner of `ip`, for tests. */

import type { Address } from "./address.ts";
import { RT_SCOPE_LINK, RT_TABLE_MAIN, RTN_UNREACHABLE } from "./constants/rtnetlink.ts";
import type { Route } from "./route_decode.ts";
import type { Rule } from "./rule.ts";

/** `addr 10.0.0.2/24 dev eth0 noprefixroute` */
export function formatAddress(address: Address, linkName: string): string {
  const parts = [`addr ${address.address}`];
  if (address.peer !== undefined) parts.push(`peer ${address.peer}`);
  parts.push(`dev ${linkName}`);
  if (address.noPrefixRoute) parts.push("noprefixroute");
  return parts.join(" ");
}

/** `route default via 10.0.0.1 dev eth0` */
export function formatRoute(route: Route, linkName: (index: number) => string): string {
  const parts = ["route"];
  if (route.type === RTN_UNREACHABLE) parts.push("unreachable");
  parts.push(route.destination.length === 0 ? "default" : `${route.destination}`);
  if (route.gateway !== undefined) parts.push(`via ${route.gateway}`);
  if (route.index !== undefined) parts.push(`dev ${linkName(route.index)}`);
  for (const hop of route.nextHops) parts.push(`nexthop via ${hop.gateway}`);
  if (route.table !== RT_TABLE_MAIN) parts.push(`table ${route.table}`);
  if (route.scope === RT_SCOPE_LINK) parts.push("scope link");
  if (route.source !== undefined) parts.push(`src ${route.source}`);
  if (route.priority !== undefined) parts.push(`metric ${route.priority}`);
  if (route.mtu !== undefined) parts.push(`mtu ${route.mtu}`);
  if (route.advmss !== undefined) parts.push(`advmss ${route.advmss}`);
  if (route.onlink) parts.push("onlink");
  return parts.join(" ");
}

/** `rule 5105: to 10.0.0.0/24 lookup 254` */
export function formatRule(rule: Rule): string {
  const parts = [`rule ${rule.priority}:`];
  if (rule.source !== undefined) parts.push(`from ${rule.source}`);
  if (rule.destination !== undefined) parts.push(`to ${rule.destination}`);
  parts.push(`lookup ${rule.table}`);
  return parts.join(" ");
}
