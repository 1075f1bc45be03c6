/** What differs between an attachment as planned and as the kernel has it, in words. */

import { isRulesetLoaded } from "../../firewall/load.ts";
import { podDifferences, type RivalOptions } from "../../firewall/pods.ts";
import { type PodRules } from "../../firewall/pod_rules.ts";
import { listAddresses } from "../../netlink/address.ts";
import { type NetlinkConnection } from "../../netlink/connection.ts";
import { findLink } from "../../netlink/link.ts";
import { type Link } from "../../netlink/link_decode.ts";
import { listRoutes } from "../../netlink/route.ts";
import { listRules } from "../../netlink/rule.ts";
import { type Ends, sourceTable } from "./attach.ts";
import { unforwarded } from "./forwarding.ts";
import { type AttachmentPlan, type PlannedEnd, type PlannedRoute } from "./plan.ts";

/** The two interfaces, when both are there. */
export interface FoundEnds {
  readonly host: Link | undefined;
  readonly container: Link | undefined;
}

/** Looks the interfaces of a plan up. */
export function findEnds(plan: AttachmentPlan, ends: Ends): FoundEnds {
  return {
    host: findLink(ends.host, { name: plan.host.name }),
    container: findLink(ends.container, { name: plan.container.name }),
  };
}

/** Compares links, addresses and routes. */
export function kernelDifferences(plan: AttachmentPlan, ends: Ends, found: FoundEnds): string[] {
  const { host, container } = found;
  return [
    ...linkDifferences(plan.host, plan.mtu, host),
    ...linkDifferences(plan.container, plan.mtu, container),
    ...(host === undefined ? [] : addressDifferences(plan.host, ends.host, host.index)),
    ...(container === undefined
      ? []
      : addressDifferences(plan.container, ends.container, container.index)),
    ...(container === undefined ? [] : containerRouteDifferences(plan, ends.container)),
    ...(container === undefined ? [] : sourceRuleDifferences(plan, ends.container, container)),
    ...(host === undefined ? [] : hostRouteDifferences(plan, ends.host, host)),
    ...unforwarded(plan).map((family) => `the node does not forward IPv${family}`),
  ];
}

/** Compares the packet filter. */
export function filterDifferences(
  filter: NetlinkConnection,
  pod: PodRules,
  options: RivalOptions,
): string[] {
  const whole = isRulesetLoaded(filter) ? [] : ["the packet filter's tables are not whole"];
  return [...whole, ...podDifferences(filter, pod, options)];
}

function linkDifferences(end: PlannedEnd, mtu: number, link: Link | undefined): string[] {
  if (link === undefined) return [`interface ${end.name} is missing`];
  const differences: string[] = [];
  if (link.kind !== "veth") differences.push(`interface ${end.name} is no veth`);
  if (!link.up) differences.push(`interface ${end.name} is down`);
  if (link.mtu !== mtu) differences.push(`interface ${end.name} has MTU ${link.mtu}, not ${mtu}`);
  if (link.mac !== end.mac) {
    differences.push(`interface ${end.name} has the hardware address ${link.mac}, not ${end.mac}`);
  }
  return differences;
}

function addressDifferences(
  end: PlannedEnd,
  connection: NetlinkConnection,
  index: number,
): string[] {
  const found = listAddresses(connection, { index });
  return end.addresses
    .filter((wanted) => !found.some(({ address }) => address.equals(wanted)))
    .map((wanted) => `interface ${end.name} does not have the address ${wanted}`);
}

/**
 * Every route has to be there, wherever it leads: a plugin that runs later in the chain may
 * have pointed it elsewhere (SPEC, "CHECK").
 */
function containerRouteDifferences(plan: AttachmentPlan, container: NetlinkConnection): string[] {
  const found = listRoutes(container);
  const isThere = ({ destination, table }: PlannedRoute) =>
    found.some((route) =>
      route.destination.equals(destination) && (table === undefined || route.table === table)
    );
  return plan.containerRoutes.filter((route) => !isThere(route))
    .map(({ destination }) => `the container has no route to ${destination}`);
}

/** A further interface has a table of its own, which is of use only with its rules. */
function sourceRuleDifferences(
  plan: AttachmentPlan,
  container: NetlinkConnection,
  { index }: Link,
): string[] {
  const table = sourceTable(index);
  if (listRoutes(container, { table }).length === 0) return [];
  const found = listRules(container).filter((rule) => rule.table === table);
  return plan.hostRoutes
    .filter((wanted) => !found.some(({ source }) => source?.equals(wanted)))
    .map((wanted) => `the container has no rule for ${wanted.address}`);
}

function hostRouteDifferences(
  plan: AttachmentPlan,
  host: NetlinkConnection,
  { index, name }: Link,
): string[] {
  const found = listRoutes(host, { index });
  return plan.hostRoutes
    .filter((wanted) => !found.some(({ destination }) => destination.equals(wanted)))
    .map((wanted) => `the node has no route to ${wanted} through ${name}`);
}
