/** Pod elements into the kernel and out again, each list as one transaction. */

import type { NetlinkConnection, Request } from "../netlink/mod.ts";
import { isErrno } from "../netlink/mod.ts";
import {
  addSetElements,
  commitNftables,
  createSetElements,
  deleteSetElements,
  type SetElement,
} from "../netlink/nftables.ts";
import type { OwnSet, PodElement } from "./elements.ts";

/**
 * The kernel's ways to say that a map's key leads elsewhere (`nft_add_set_elem` in
 * `net/netfilter/nf_tables_api.c`): EBUSY until Linux 5.6, EEXIST since.
 */
export function isTaken(error: unknown): boolean {
  return isErrno(error, "EEXIST", "EBUSY");
}

/** Adds elements of which none is there yet; one that is fails with EEXIST. */
export function createElements(
  connection: NetlinkConnection,
  elements: readonly PodElement[],
): void {
  commitNftables(connection, forEachSet(elements, (set, list) => createSetElements(set, list)));
}

/**
 * Adds elements, taking over those that are there from whoever owned them; a map's key that
 * leads elsewhere fails with EEXIST.
 *
 * First added without an owner, which fails for such a key and does nothing for an element
 * that is there; then deleted and added with its owner. One transaction: packets see the
 * state before it or after it.
 */
export function replaceElements(
  connection: NetlinkConnection,
  elements: readonly PodElement[],
): void {
  commitNftables(
    connection,
    forEachSet(elements, (set, list) => [
      ...addSetElements(set, list.map(withoutOwner)),
      ...deleteSetElements(set, list),
      ...addSetElements(set, list),
    ]),
  );
}

/**
 * Removes those of `elements` that are there and lead where they say.
 *
 * Each is added before it is deleted. So a missing one is no error, and a map's key that now
 * leads to another pod fails and stays: the kernel has no other way to say "delete it if it is
 * mine" in one step. If the transaction fails, every element gets one of its own, so that one
 * that is somebody else's does not keep the others.
 */
export function removeElements(
  connection: NetlinkConnection,
  elements: readonly PodElement[],
): void {
  const remove = (some: readonly PodElement[]) =>
    commitNftables(
      connection,
      forEachSet(some, (set, list) => [
        ...addSetElements(set, list.map(withoutOwner)),
        ...deleteSetElements(set, list),
      ]),
    );
  try {
    return remove(elements);
  } catch (error) {
    if (!isGone(error)) throw error;
  }
  for (const element of elements) {
    try {
      remove([element]);
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }
}

/** Somebody else's, or the table or set itself is missing. */
function isGone(error: unknown): boolean {
  return isTaken(error) || isErrno(error, "ENOENT");
}

function withoutOwner({ key, data }: SetElement): SetElement {
  return { key, ...(data === undefined ? {} : { data }) };
}

function forEachSet(
  elements: readonly PodElement[],
  make: (set: OwnSet, list: readonly SetElement[]) => readonly Request[],
): Request[] {
  return [...Map.groupBy(elements, ({ set }) => set)].flatMap(([set, list]) => {
    return make(set, list.map((element) => encodeElement(set, element)));
  });
}

/** A key that begins with the interface names its owner already. */
function encodeElement(set: OwnSet, { key, data, owner }: PodElement): SetElement {
  return {
    key,
    ...(data === undefined ? {} : { data }),
    ...(set.definition.key[0] === "ifname" ? {} : { comment: owner }),
  };
}
