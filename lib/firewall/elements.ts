/** A pod's rules as set elements. Pure: what is to be there, not how it gets there. */

import type { SetReference } from "../netlink/nftables.ts";
import { encodeFields, type FieldValue, formatFields } from "./field.ts";
import { FirewallError } from "./errors.ts";
import { checkPodRules, type HostPort, type PodRules } from "./pod_rules.ts";
import { RULESET, type SetDefinition, TABLE } from "./ruleset.ts";

/** A set of ours: where it is and what its elements are made of. */
export interface OwnSet extends SetReference {
  readonly family: "inet" | "arp";
  readonly definition: SetDefinition;
}

/** One element that belongs to a pod. */
export interface PodElement {
  readonly set: OwnSet;
  readonly key: Uint8Array;
  /** Where a host port leads. */
  readonly data?: Uint8Array;
  /** Host interface of the pod, kept in the kernel as the element's comment. */
  readonly owner: string;
}

/** All sets of the ruleset. */
export const OWN_SETS: readonly OwnSet[] = RULESET.tables.flatMap(({ family, sets }) => {
  return sets.map((definition) => ({ family, table: TABLE, set: definition.name, definition }));
});

/** Sets of the whole node: not emptied with a pod. */
const NODE_SETS: ReadonlySet<string> = new Set(["cluster4", "cluster6", "tunnels"]);

/** The sets pods have elements in. */
export const POD_SETS: readonly OwnSet[] = OWN_SETS.filter(({ set }) => !NODE_SETS.has(set));

/** The set called `name`. */
export function ownSet(name: string, family: OwnSet["family"] = "inet"): OwnSet {
  const found = OWN_SETS.find((set) => set.set === name && set.family === family);
  if (found === undefined) throw new TypeError(`Cannot find set: ${family} ${name} is not ours`);
  return found;
}

/**
 * The elements that carry out `pod`.
 *
 * @throws {FirewallError} if the rules contradict themselves or are out of range.
 */
export function elementsOf(pod: PodRules): PodElement[] {
  checkPodRules(pod);
  const { hostInterface: owner, addresses, masquerade, antiSpoof } = pod;
  const elements: PodElement[] = [];
  if (!antiSpoof) {
    elements.push(
      makeElement(owner, { set: ownSet("unchecked"), key: [owner] }),
      makeElement(owner, { set: ownSet("unchecked", "arp"), key: [owner] }),
    );
  }
  for (const address of addresses) {
    const { family } = address;
    if (antiSpoof) {
      const key = [owner, address];
      elements.push(makeElement(owner, { set: ownSet(`source${family}`), key }));
      if (family === 4) elements.push(makeElement(owner, { set: ownSet("source4", "arp"), key }));
    }
    if (masquerade) {
      elements.push(makeElement(owner, { set: ownSet(`masquerade${family}`), key: [address] }));
    }
  }
  if (pod.hostPorts.length === 0) return elements;
  for (const port of pod.hostPorts) elements.push(...hostPortElements(pod, port));
  return withoutRepeats(elements);
}

/** The elements that carry out one host port: up to two per family. */
export function hostPortElements(pod: PodRules, port: HostPort): PodElement[] {
  const { hostInterface: owner, addresses } = pod;
  const { protocol, hostPort, containerPort, hostIp } = port;
  return ([4, 6] as const).flatMap((family) => {
    const address = addresses.find((one) => one.family === family);
    if (address === undefined || (hostIp !== undefined && hostIp.family !== family)) return [];
    const value = [address, containerPort];
    const mapping = hostIp === undefined || hostIp.isUnspecified
      ? { set: ownSet(`host_port${family}`), key: [protocol, hostPort], value }
      : { set: ownSet(`host_port_ip${family}`), key: [hostIp, protocol, hostPort], value };
    return [
      makeElement(owner, mapping),
      makeElement(owner, { set: ownSet(`hairpin${family}`), key: [address, address] }),
    ];
  });
}

/**
 * An element's place and content as `nft` writes them: `inet headcni host_port4 { tcp . 80 :
 * 10.0.0.2 . 8080 }`.
 */
export function formatElement({ set, key, data }: Omit<PodElement, "owner">): string {
  const value = data === undefined || set.definition.value === undefined
    ? ""
    : ` : ${formatFields(set.definition.value, data)}`;
  const fields = formatFields(set.definition.key, key);
  return `${set.family} ${set.table} ${set.set} { ${fields}${value} }`;
}

/** Whether two are the same element, whatever it maps to. */
export function elementId({ set, key }: Pick<PodElement, "set" | "key">): string {
  return `${set.family} ${set.set} ${key.join(".")}`;
}

/** Whether two byte strings are equal; `undefined` equals only itself. */
export function sameBytes(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}

/** What an element is made of, before it is encoded. */
interface ElementSpec {
  readonly set: OwnSet;
  readonly key: readonly FieldValue[];
  readonly value?: readonly FieldValue[];
}

function makeElement(owner: string, { set, key, value }: ElementSpec): PodElement {
  const encoded = encodeFields(set.definition.key, key);
  if (value === undefined || set.definition.value === undefined) {
    return { set, key: encoded, owner };
  }
  return { set, key: encoded, data: encodeFields(set.definition.value, value), owner };
}

/**
 * Runtimes repeat port mappings, and all of them mark the same hairpin; the kernel would refuse
 * the repetition.
 */
function withoutRepeats(elements: readonly PodElement[]): PodElement[] {
  const byId = new Map<string, PodElement>();
  for (const one of elements) {
    const id = elementId(one);
    const before = byId.get(id);
    if (before === undefined) byId.set(id, one);
    else if (!sameBytes(before.data, one.data)) {
      throw new FirewallError({
        operation: "make rules for",
        subject: one.owner,
        reason: `one host port leads to two places: ${formatElement(before)}, ${
          formatElement(one)
        }`,
      });
    }
  }
  return [...byId.values()];
}
