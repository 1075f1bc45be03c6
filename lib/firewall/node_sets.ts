/** Sets of the whole node: replaced as a whole, in one transaction. */

import { type AddressRange, familyBits, mergeRanges, type Prefix, wholeRange } from "../ip/mod.ts";
import { isErrno, type NetlinkConnection } from "../netlink/mod.ts";
import { addSetElements, commitNftables, flushSet, type SetElement } from "../netlink/nftables.ts";
import { checkLinkName } from "../netlink/link_name.ts";
import { type OwnSet, ownSet } from "./elements.ts";
import { RulesetMissingError } from "./errors.ts";
import { encodeFields } from "./field.ts";

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
  const ranges = mergeRanges(prefixes.map(wholeRange));
  replaceSets(
    connection,
    ([4, 6] as const).map((family) => ({
      set: ownSet(`cluster${family}`),
      elements: ranges.filter((range) => range.family === family).flatMap(intervalOf),
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

function replaceSets(
  connection: NetlinkConnection,
  changes: readonly { readonly set: OwnSet; readonly elements: readonly SetElement[] }[],
): void {
  const requests = changes.flatMap(({ set, elements }) => {
    return [flushSet(set), ...addSetElements(set, elements)];
  });
  try {
    commitNftables(connection, requests);
  } catch (error) {
    if (!isErrno(error, "ENOENT")) throw error;
    const subject = changes.map(({ set }) => set.set).join(", ");
    throw new RulesetMissingError({ operation: "fill sets", subject, cause: error });
  }
}

/** First address in, first address after it out; the end of the address space needs no end. */
function intervalOf(range: AddressRange): SetElement[] {
  const start = { key: range.start.toBytes() };
  if (range.end.value + 1n >> BigInt(familyBits(range.family)) !== 0n) return [start];
  return [start, { key: range.end.offset(1n).toBytes(), intervalEnd: true }];
}
