/**
 * A pod's elements: in, out, and compared.
 *
 * Nothing here lists a set, so the cost does not depend on how many pods there are. Measured
 * with 16,000 of them on two noisy cores, kernel 6.18, for a dual-stack pod with masquerade,
 * source check and two host ports: add 0.17 ms, check 0.55 ms, remove 0.25 ms; for the first
 * time in a process 3, 5 and 2 ms. A transaction that fails costs 17 ms more, because
 * the kernel waits for all processors; `bench/firewall.ts` repeats all but that.
 *
 * Every `connection` is one of protocol `NETLINK_NETFILTER` in the namespace of the node.
 */

import { isErrno, type NetlinkConnection } from "../netlink/mod.ts";
import { getSetElements, type SetElement } from "../netlink/nftables.ts";
import { HeadcniError } from "../sys/errors.ts";
import {
  elementId,
  elementsOf,
  formatElement,
  hostPortElements,
  type PodElement,
  sameBytes,
} from "./elements.ts";
import { type HostPortConflict, HostPortConflictError, RulesetMissingError } from "./errors.ts";
import { formatFields } from "./field.ts";
import { removeOwned } from "./inventory.ts";
import type { PodRules } from "./pod_rules.ts";
import { createElements, isTaken, removeElements, replaceElements } from "./transaction.ts";

/** When all pods are restored, a transaction of this size is sent: well below the send buffer. */
const ELEMENTS_PER_TRANSACTION = 500;

/**
 * Adds a pod's elements, all of them or none. A repetition, or left-overs of an earlier
 * attempt, are no error.
 *
 * Call it before the pod's link goes up: until then its packets are dropped as forged.
 *
 * @throws {HostPortConflictError} a host port leads to another pod; nothing was changed.
 * @throws {RulesetMissingError} the tables are not loaded; nothing was changed.
 * @throws {FirewallError} the rules make no sense.
 */
export function addPod(connection: NetlinkConnection, pod: PodRules): void {
  const elements = elementsOf(pod);
  try {
    // Nearly always nothing is there yet, and this is a third of the messages.
    createElements(connection, elements);
  } catch (error) {
    if (!isTaken(error)) throw explain(pod, error);
    takeOver(connection, pod, elements);
  }
}

/** Adds elements of which some are there: from an earlier attempt, or another pod's. */
function takeOver(
  connection: NetlinkConnection,
  pod: PodRules,
  elements: readonly PodElement[],
): void {
  try {
    return replaceElements(connection, elements);
  } catch (error) {
    if (!isTaken(error)) throw explain(pod, error);
    const conflict = findConflict(connection, pod);
    if (conflict === undefined) throw error;
    if (conflict.owner !== pod.hostInterface) throw new HostPortConflictError(conflict);
  }
  // Its own port, to an address it had in an earlier attempt: begin afresh.
  removeOwned(connection, pod.hostInterface);
  replaceElements(connection, elements);
}

/**
 * Adds the elements of many pods, as after somebody flushed all rules.
 *
 * @returns for each pod that could not be added, what {@linkcode addPod} threw; everything else
 * is in place.
 * @throws {RulesetMissingError} the tables are not loaded.
 */
export function addPods(
  connection: NetlinkConnection,
  pods: readonly PodRules[],
): HeadcniError[] {
  const failures: HeadcniError[] = [];
  let some: PodRules[] = [];
  let elements: PodElement[] = [];
  for (const [index, pod] of pods.entries()) {
    try {
      elements.push(...elementsOf(pod));
      some.push(pod);
    } catch (error) {
      if (!(error instanceof HeadcniError)) throw error;
      failures.push(error);
    }
    if (elements.length < ELEMENTS_PER_TRANSACTION && index + 1 < pods.length) continue;
    failures.push(...addTogether(connection, { pods: some, elements }));
    some = [];
    elements = [];
  }
  return failures;
}

/** In one transaction; if a host port is taken, each pod in its own. */
function addTogether(
  connection: NetlinkConnection,
  { pods, elements }: { pods: readonly PodRules[]; elements: readonly PodElement[] },
): HostPortConflictError[] {
  try {
    replaceElements(connection, elements);
    return [];
  } catch (error) {
    if (!isTaken(error) && !isErrno(error, "ENOENT")) throw error;
  }
  return pods.flatMap((pod) => {
    try {
      addPod(connection, pod);
      return [];
    } catch (error) {
      if (error instanceof HostPortConflictError) return [error];
      throw error;
    }
  });
}

/**
 * Removes a pod's elements. Those that are missing, and host ports that lead to another pod by
 * now, are passed over; so is a table that is not there.
 *
 * Deleting a pod must not fail because of what was asked for: with rules that
 * {@linkcode addPod} would refuse, all that belongs to the interface is looked for and removed.
 */
export function removePod(connection: NetlinkConnection, pod: PodRules): void {
  let elements: PodElement[];
  try {
    elements = elementsOf(pod);
  } catch (error) {
    if (!(error instanceof HeadcniError)) throw error;
    return removeOwned(connection, pod.hostInterface);
  }
  removeElements(connection, elements);
}

/**
 * What differs between `pod` and the kernel, one sentence each; empty if nothing does.
 *
 * Asked for by key, also what the opposite of each switch would have left behind. Elements
 * nobody would expect are found by `listPods`.
 */
export function podDifferences(connection: NetlinkConnection, pod: PodRules): string[] {
  const expected = elementsOf(pod);
  const ids = new Set(expected.map(elementId));
  const opposite = { ...pod, masquerade: !pod.masquerade, antiSpoof: !pod.antiSpoof };
  const unexpected = elementsOf(opposite).filter((element) => !ids.has(elementId(element)));
  const all = [...expected, ...unexpected];
  const found = getSetElements(connection, all.map(({ set, key }) => ({ ...set, key })));
  return all.map((element, index) => {
    return index < expected.length
      ? differenceOf(element, found[index])
      : found[index] === undefined
      ? undefined
      : `${formatElement(element)} should not be there`;
  }).filter((sentence) => sentence !== undefined);
}

function differenceOf(element: PodElement, found: SetElement | undefined): string | undefined {
  const { set, key, owner } = element;
  if (found === undefined) return `${formatElement(element)} is missing`;
  if (!sameBytes(element.data, found.data)) {
    const there = { set, key, ...(found.data === undefined ? {} : { data: found.data }) };
    return `${formatElement(there)} leads elsewhere than to ${formatTarget(element)}`;
  }
  if (found.comment !== undefined && found.comment !== owner) {
    return `${formatElement(element)} belongs to ${found.comment}`;
  }
  return undefined;
}

/** The error a caller can act on, in place of an error number. */
function explain(pod: PodRules, error: unknown): unknown {
  if (!isErrno(error, "ENOENT")) return error;
  const subject = pod.hostInterface;
  return new RulesetMissingError({ operation: "add rules for", subject, cause: error });
}

function findConflict(connection: NetlinkConnection, pod: PodRules): HostPortConflict | undefined {
  const wanted = pod.hostPorts.flatMap((hostPort) =>
    hostPortElements(pod, hostPort).map((element) => ({ hostPort, element }))
  );
  const references = wanted.map(({ element: { set, key } }) => ({ ...set, key }));
  const found = getSetElements(connection, references);
  for (const [index, { hostPort, element }] of wanted.entries()) {
    const there = found[index];
    if (there?.data === undefined || sameBytes(there.data, element.data)) continue;
    return {
      hostInterface: pod.hostInterface,
      hostPort,
      owner: there.comment,
      target: formatTarget({ ...element, data: there.data }),
    };
  }
  return undefined;
}

function formatTarget({ set, data }: Pick<PodElement, "set" | "data">): string {
  return data === undefined ? "nothing" : formatFields(set.definition.value ?? [], data);
}
