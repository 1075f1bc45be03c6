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
import { findTakenPorts, formatTarget } from "./conflict.ts";
import { elementId, elementsOf, formatElement, type PodElement, sameBytes } from "./elements.ts";
import { HostPortConflictError, RulesetMissingError } from "./errors.ts";
import { removeOwned } from "./inventory.ts";
import type { PodRules } from "./pod_rules.ts";
import { createElements, isTaken, removeElements, replaceElements } from "./transaction.ts";

/**
 * What is known of the owner of a host port that is in the way.
 *
 * - `sibling`: another interface of the same container. It keeps the port.
 * - `gone`: there is no such interface any more. What is left of it is removed.
 * - `stranger`: anybody else. It keeps the port, and that is an error.
 */
export type Rival = "sibling" | "gone" | "stranger";

/** Options for {@linkcode addPod} and {@linkcode podDifferences}. */
export interface RivalOptions {
  /** Asked only if a host port leads elsewhere. @default everybody is a stranger */
  readonly rivalOf?: (hostInterface: string) => Rival;
}

/** A conflict is looked at this often: its owner may change meanwhile. */
const MAX_ATTEMPTS = 3;

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
export function addPod(
  connection: NetlinkConnection,
  pod: PodRules,
  options: RivalOptions = {},
): void {
  const elements = elementsOf(pod);
  try {
    // Nearly always nothing is there yet, and this is a third of the messages.
    createElements(connection, elements);
  } catch (error) {
    if (!isTaken(error)) throw explain(pod, error);
    takeOver(connection, pod, { ...options, elements });
  }
}

/**
 * Gives the host ports of `pod` to it, as far as nobody has them: for what is left of a container
 * whose other interface had them. A table that is not there is fine.
 */
export function claimHostPorts(connection: NetlinkConnection, pod: PodRules): void {
  const elements = elementsOf(pod)
    .filter(({ set }) => set.definition.value !== undefined || set.set.startsWith("hairpin"));
  try {
    takeOver(connection, pod, { elements, rivalOf: () => "sibling" });
  } catch (error) {
    if (!(error instanceof RulesetMissingError)) throw error;
  }
}

/** Adds elements of which some are there: from an earlier attempt, or another pod's. */
function takeOver(
  connection: NetlinkConnection,
  pod: PodRules,
  options: RivalOptions & { readonly elements: readonly PodElement[] },
): void {
  let { elements } = options;
  for (let attempt = 1;; attempt++) {
    try {
      return replaceElements(connection, elements);
    } catch (error) {
      if (!isTaken(error)) throw explain(pod, error);
      if (attempt === MAX_ATTEMPTS) throw error;
    }
    elements = withoutTaken(connection, pod, { ...options, elements });
  }
}

/** Makes way where that is right; what others may keep is left out. */
function withoutTaken(
  connection: NetlinkConnection,
  pod: PodRules,
  options: RivalOptions & { readonly elements: readonly PodElement[] },
): readonly PodElement[] {
  const { elements, rivalOf = () => "stranger" } = options;
  const kept = new Set<string>();
  for (const { element, conflict } of findTakenPorts(connection, pod)) {
    const { owner } = conflict;
    const rival = owner === pod.hostInterface
      ? "gone" // its own port, to an address it had in an earlier attempt
      : owner === undefined
      ? "stranger"
      : rivalOf(owner);
    if (rival === "stranger") throw new HostPortConflictError(conflict);
    if (rival === "sibling") kept.add(elementId(element));
    else if (owner !== undefined) removeOwned(connection, owner);
  }
  return elements.filter((element) => !kept.has(elementId(element)));
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
export function podDifferences(
  connection: NetlinkConnection,
  pod: PodRules,
  options: RivalOptions = {},
): string[] {
  const { rivalOf = () => "stranger" } = options;
  const expected = elementsOf(pod);
  const ids = new Set(expected.map(elementId));
  const opposite = { ...pod, masquerade: !pod.masquerade, antiSpoof: !pod.antiSpoof };
  const unexpected = elementsOf(opposite).filter((element) => !ids.has(elementId(element)));
  const all = [...expected, ...unexpected];
  const found = getSetElements(connection, all.map(({ set, key }) => ({ ...set, key })));
  return all.map((element, index) => {
    const there = found[index];
    const owner = element.data === undefined ? undefined : there?.comment;
    if (owner !== undefined && owner !== pod.hostInterface && rivalOf(owner) === "sibling") {
      return undefined;
    }
    return index < expected.length
      ? differenceOf(element, there)
      : there === undefined
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
