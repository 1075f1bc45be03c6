/**
 * Takes an attachment apart. What is not there is not missed; what cannot be removed does not
 * keep the rest from being removed.
 *
 * The order: the node's routes first, without which an attachment counts as broken, so that an
 * ADD after a killed DEL clears it away (`clear_way.ts`); then the rules, since an interface
 * without any sends nothing more, and since the kernel takes its time to free them (closing the
 * socket right after would wait for it); then the interface, and the connections the kernel
 * remembers for the addresses. Only then may the addresses be given to others, which is up to the
 * caller.
 */

import { removeOwned } from "../../firewall/inventory.ts";
import { type PodRules } from "../../firewall/pod_rules.ts";
import { claimHostPorts } from "../../firewall/pods.ts";
import { type IpAddress } from "../../ip/address.ts";
import { Prefix } from "../../ip/prefix.ts";
import { deleteFlows } from "../../netlink/conntrack.ts";
import { isErrno } from "../../netlink/errors.ts";
import { findLink } from "../../netlink/link.ts";
import { deleteRoute } from "../../netlink/route.ts";
import { deleteRule, listRules } from "../../netlink/rule.ts";
import { failpoint } from "../../sys/failpoint.ts";
import { RemoveError } from "../errors.ts";
import { detach, SOURCE_RULE_PRIORITY } from "./attach.ts";
import { type Container } from "./container.ts";
import { type Node } from "./node.ts";
import { removeFromFilter } from "./packet_filter.ts";
import { type AttachmentRecord } from "./record.ts";

/** What is to be removed. */
export interface Remains {
  readonly hostInterface: string;
  /** What the store knows of it; `undefined` when nothing. */
  readonly record: AttachmentRecord | undefined;
  /** Other interfaces of its container: they get the host ports it had. */
  readonly heirs?: readonly PodRules[] | undefined;
  /** Its namespace, if that is still there. */
  readonly container?: Container | undefined;
}

/**
 * Removes everything but the addresses.
 *
 * @throws {RemoveError} naming each part that is still there.
 */
export function removeAttachment(node: Node, remains: Remains): void {
  const { hostInterface, record, heirs = [], container } = remains;
  const failures: string[] = [];
  const attempt = (work: () => unknown): unknown => {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      failures.push(error.message);
      return undefined;
    }
  };
  if (record !== undefined) {
    attempt(() => removeHostRoutes(node, hostInterface, record.addresses));
    failpoint("del.routes");
    attempt(() => removeFromFilter(node.filter, { ...record, hostInterface }));
    failpoint("del.filter");
    if (record.hostPorts.length > 0) {
      for (const heir of heirs) attempt(() => claimHostPorts(node.filter, heir));
      failpoint("del.inherited");
    }
  }
  const existed = attempt(() => detach(node.route, hostInterface)) === true;
  failpoint("del.interface");
  if (record === undefined) {
    // The store was lost, and with it the addresses: the rules are found by their owner.
    if (existed) attempt(() => removeOwned(node.filter, hostInterface));
  } else {
    if (container !== undefined) {
      attempt(() => removeSourceRules(container, record.addresses));
      failpoint("del.rules");
    }
    for (const address of record.addresses) {
      attempt(() => deleteFlows(node.filter, address));
      failpoint("del.flows");
    }
  }
  if (failures.length === 0) return;
  throw new RemoveError({
    operation: "remove attachment",
    subject: hostInterface,
    reason: failures.join("; "),
    remedy: "Repeat the DEL",
  });
}

function removeHostRoutes(
  { route }: Node,
  hostInterface: string,
  addresses: readonly IpAddress[],
): void {
  const index = findLink(route, { name: hostInterface })?.index;
  if (index === undefined) return;
  const routes = addresses.map((address) => new Prefix(address, address.bits));
  for (
    const { error } of route.exchange(
      routes.map((destination) => deleteRoute({ destination, index })),
    )
  ) {
    if (error !== undefined && !isErrno(error, "ESRCH")) throw error;
  }
}

/** Rules of a further interface stay in the container when the interface goes. */
export function removeSourceRules({ route }: Container, addresses: readonly IpAddress[]): void {
  const rules = listRules(route).filter(({ priority, source }) =>
    priority === SOURCE_RULE_PRIORITY && source !== undefined &&
    addresses.some((address) => source.isHost && source.address.equals(address))
  );
  for (const { family, priority, source, table } of rules) {
    route.execute(deleteRule({ family, priority, table, ...(source ? { source } : {}) }));
  }
}
