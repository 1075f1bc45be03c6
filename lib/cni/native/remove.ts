/**
 * Takes an attachment apart. What is not there is not missed; what cannot be removed does not
 * keep the rest from being removed.
 *
 * The order: the interface first, on another thread, and with it the container's end and all
 * routes: the kernel takes its time, and everything else is done meanwhile. The rules go now, not
 * later: the kernel takes its time to free them, too, and closing the socket right after would wait
 * for it; an interface without any sends nothing more. When the interface is gone, the connections
 * the kernel remembers for the addresses go, which packets under way could have brought back. Only
 * then may the addresses be given to others, which is up to the caller.
 */

import { removeOwned } from "../../firewall/inventory.ts";
import { type PodRules } from "../../firewall/pod_rules.ts";
import { claimHostPorts } from "../../firewall/pods.ts";
import { type IpAddress } from "../../ip/address.ts";
import { deleteFlows } from "../../netlink/conntrack.ts";
import { deleteRule, listRules } from "../../netlink/rule.ts";
import { failpoint } from "../../sys/failpoint.ts";
import { RemoveError } from "../errors.ts";
import { detachAside, SOURCE_RULE_PRIORITY } from "./attach.ts";
import { type Container } from "./container.ts";
import { type Node } from "./node.ts";
import { removeFromFilter } from "./packet_filter.ts";
import { type AttachmentRecord } from "./record.ts";

/** What is to be removed. */
export interface Remains {
  readonly hostInterface: string;
  readonly network: string;
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
export async function removeAttachment(node: Node, remains: Remains): Promise<void> {
  const { hostInterface, network, record, heirs = [], container } = remains;
  const failures: string[] = [];
  const attempt = async (work: () => unknown): Promise<unknown> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      failures.push(error.message);
      return undefined;
    }
  };
  const detached = detachAside(node.route, { name: hostInterface, network });
  // Whatever happens: its socket must stay open until it is done. A failure is told below.
  const done = detached.then(() => {}, () => {});
  await using _done = { [Symbol.asyncDispose]: () => done };
  if (record !== undefined) {
    await attempt(() => removeFromFilter(node.filter, { ...record, hostInterface }));
    failpoint("del.filter");
    if (record.hostPorts.length > 0) {
      for (const heir of heirs) await attempt(() => claimHostPorts(node.filter, heir));
      failpoint("del.inherited");
    }
    if (container !== undefined) {
      await attempt(() => removeSourceRules(container, record.addresses));
      failpoint("del.rules");
    }
  }
  const existed = await attempt(() => detached) === true;
  failpoint("del.interface");
  if (record === undefined) {
    // The store was lost, and with it the addresses: the rules are found by their owner.
    if (existed) await attempt(() => removeOwned(node.filter, hostInterface));
  } else {
    for (const address of record.addresses) {
      await attempt(() => deleteFlows(node.filter, address));
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
