/** Sets of the whole node: replaced as a whole, in one transaction. */

import {
  AddressRange,
  familyBits,
  IpAddress,
  mergeRanges,
  type Prefix,
  wholeRange,
} from "../ip/mod.ts";
import { isErrno, type NetlinkConnection, type Request } from "../netlink/mod.ts";
import {
  addSetElements,
  commitNftables,
  flushSet,
  getSetElements,
  listSetElements,
  type SetElement,
} from "../netlink/nftables.ts";
import { checkLinkName } from "../netlink/link_name.ts";
import { type OwnSet, ownSet } from "./elements.ts";
import { RulesetMissingError } from "./errors.ts";
import { encodeFields, leadingInterface } from "./field.ts";

/**
 * Says which networks pods reach under their own address: the pod networks of all nodes.
 * Prefixes may overlap.
 *
 * @throws {RulesetMissingError} the tables are not loaded.
 */
export function setClusterNetworks(
  connection: NetlinkConnection,
  prefixes: readonly Prefix[],
): void {
  replaceClusterRanges(connection, prefixes.map(wholeRange));
}

/**
 * Makes sure that `prefixes` are among the networks of {@linkcode setClusterNetworks}; others
 * stay. Lists the sets only if one is missing.
 *
 * @throws {RulesetMissingError} the tables are not loaded.
 */
export function addClusterNetworks(
  connection: NetlinkConnection,
  prefixes: readonly Prefix[],
): void {
  const ends = prefixes.flatMap((prefix) => [prefix.network, prefix.last]);
  const found = getSetElements(
    connection,
    ends.map((end) => ({ ...ownSet(`cluster${end.family}`), key: end.toBytes() })),
  );
  if (found.every((element) => element !== undefined)) return;
  replaceClusterRanges(connection, [
    ...listClusterNetworks(connection),
    ...prefixes.map(wholeRange),
  ]);
}

/** The networks pods reach under their own address; fails with `ENOENT` without the tables. */
export function listClusterNetworks(connection: NetlinkConnection): AddressRange[] {
  return ([4, 6] as const).flatMap((family) => listClusterRanges(connection, family));
}

function listClusterRanges(connection: NetlinkConnection, family: 4 | 6): AddressRange[] {
  const elements = listSetElements(connection, ownSet(`cluster${family}`))
    .map(({ key, intervalEnd = false }) => ({ address: IpAddress.fromBytes(key), intervalEnd }))
    .toSorted((a, b) => a.address.compare(b.address));
  return elements.flatMap(({ address, intervalEnd }, index) => {
    if (intervalEnd) return [];
    const next = elements[index + 1]?.address;
    return [new AddressRange(address, next?.offset(-1n) ?? lastAddress(family))];
  });
}

function lastAddress(family: 4 | 6): IpAddress {
  return new IpAddress(family, (1n << BigInt(familyBits(family))) - 1n);
}

function replaceClusterRanges(
  connection: NetlinkConnection,
  ranges: readonly AddressRange[],
): void {
  const merged = mergeRanges(ranges);
  replaceSets(
    connection,
    ([4, 6] as const).map((family) => ({
      set: ownSet(`cluster${family}`),
      elements: merged.filter((range) => range.family === family).flatMap(intervalOf),
    })),
  );
}

/**
 * Names the tunnels' interfaces, out of which TCP segments are kept small enough.
 *
 * @throws {RulesetMissingError} the tables are not loaded.
 */
export function setTunnels(connection: NetlinkConnection, names: readonly string[]): void {
  for (const name of names) checkLinkName("set tunnel interface", name);
  const set = ownSet("tunnels");
  const elements = [...new Set(names)].map((name) => ({ key: encodeFields(["ifname"], [name]) }));
  replaceSets(connection, [{ set, elements }]);
}

/** The tunnels' interfaces; fails with `ENOENT` without the tables. */
export function listTunnels(connection: NetlinkConnection): string[] {
  return listSetElements(connection, ownSet("tunnels"))
    .flatMap(({ key }) => leadingInterface(["ifname"], key) ?? []);
}

/**
 * Masquerades what `addresses` send to the outside world, as a pod's packets are. The elements
 * have no owner, so that removing pods never removes them.
 *
 * @throws {RulesetMissingError} the tables are not loaded.
 */
export function addMasqueraded(
  connection: NetlinkConnection,
  addresses: readonly IpAddress[],
): void {
  const requests = addresses.flatMap((address) =>
    addSetElements(ownSet(`masquerade${address.family}`), [{ key: address.toBytes() }])
  );
  commitSets(connection, requests, "masquerade4, masquerade6");
}

/** Whether all of `addresses` are masqueraded; fails with `ENOENT` without the tables. */
export function areMasqueraded(
  connection: NetlinkConnection,
  addresses: readonly IpAddress[],
): boolean {
  const elements = addresses.map((address) => ({
    ...ownSet(`masquerade${address.family}`),
    key: address.toBytes(),
  }));
  return getSetElements(connection, elements).every((element) => element !== undefined);
}

function replaceSets(
  connection: NetlinkConnection,
  changes: readonly { readonly set: OwnSet; readonly elements: readonly SetElement[] }[],
): void {
  const requests = changes.flatMap(({ set, elements }) => {
    return [flushSet(set), ...addSetElements(set, elements)];
  });
  commitSets(connection, requests, changes.map(({ set }) => set.set).join(", "));
}

function commitSets(
  connection: NetlinkConnection,
  requests: readonly Request[],
  subject: string,
): void {
  try {
    commitNftables(connection, requests);
  } catch (error) {
    if (!isErrno(error, "ENOENT")) throw error;
    throw new RulesetMissingError({ operation: "fill sets", subject, cause: error });
  }
}

/** First address in, first address after it out; the end of the address space needs no end. */
function intervalOf(range: AddressRange): SetElement[] {
  const start = { key: range.start.toBytes() };
  if (range.end.value + 1n >> BigInt(familyBits(range.family)) !== 0n) return [start];
  return [start, { key: range.end.offset(1n).toBytes(), intervalEnd: true }];
}
