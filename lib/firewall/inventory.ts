/** Whose elements are in the kernel: for garbage collection and `headcni status`. */

import type { NetlinkConnection } from "../netlink/mod.ts";
import { isErrno } from "../netlink/mod.ts";
import { listSetElements, type SetElement } from "../netlink/nftables.ts";
import { type OwnSet, POD_SETS, type PodElement } from "./elements.ts";
import { leadingInterface } from "./field.ts";
import { removeElements } from "./transaction.ts";

/** All elements of one owner. */
export interface PodElements {
  readonly hostInterface: string;
  readonly elements: readonly PodElement[];
}

/** Elements per transaction: well below the socket's send buffer. */
const ELEMENTS_PER_TRANSACTION = 500;

/**
 * Every owner with its elements. Elements without one, which a person added by hand, are left
 * out; no table is no owners.
 */
export function listPods(connection: NetlinkConnection): PodElements[] {
  const elements = POD_SETS.flatMap((set) => listSet(connection, set));
  return [...Map.groupBy(elements, ({ owner }) => owner)]
    .map(([hostInterface, elements]) => ({ hostInterface, elements }));
}

/** The owners that are not among `validInterfaces`. */
export function stalePods(
  connection: NetlinkConnection,
  validInterfaces: ReadonlySet<string>,
): PodElements[] {
  return listPods(connection).filter(({ hostInterface }) => !validInterfaces.has(hostInterface));
}

/** Removes all that belongs to one interface, for when nobody knows what it was. */
export function removeOwned(connection: NetlinkConnection, hostInterface: string): void {
  removeStalePods(
    connection,
    listPods(connection).filter((pod) => pod.hostInterface === hostInterface),
  );
}

/** Removes what {@linkcode stalePods} found. */
export function removeStalePods(
  connection: NetlinkConnection,
  pods: readonly PodElements[],
): void {
  const elements = pods.flatMap((pod) => pod.elements);
  for (let at = 0; at < elements.length; at += ELEMENTS_PER_TRANSACTION) {
    removeElements(connection, elements.slice(at, at + ELEMENTS_PER_TRANSACTION));
  }
}

function listSet(connection: NetlinkConnection, set: OwnSet): PodElement[] {
  let found: SetElement[];
  try {
    found = listSetElements(connection, set);
  } catch (error) {
    if (isErrno(error, "ENOENT")) return [];
    throw error;
  }
  return found.flatMap(({ key, data, comment }): PodElement[] => {
    const owner = comment ?? leadingInterface(set.definition.key, key);
    if (owner === undefined) return [];
    return [{ set, key, owner, ...(data === undefined ? {} : { data }) }];
  });
}
