/**
 * The elements of all pods a node knows, as lines of the script that loads the ruleset: one
 * transaction brings back rules and elements, or neither. A program that is killed in between
 * would otherwise leave running pods with rules that know nobody, and drop all they send.
 */

import { isErrno, type NetlinkConnection } from "../netlink/mod.ts";
import { listSetElements, type SetElement } from "../netlink/nftables.ts";
import { HeadcniError } from "../sys/errors.ts";
import {
  elementId,
  elementsOf,
  type OwnSet,
  POD_SETS,
  type PodElement,
  sameBytes,
} from "./elements.ts";
import { HostPortConflictError } from "./errors.ts";
import { describeConflict } from "./conflict.ts";
import { formatFields, leadingInterface, renderFields } from "./field.ts";
import type { PodRules } from "./pod_rules.ts";

/** What brings all pods back. */
export interface Restoration {
  /** Lines for `nft`; empty if nothing is missing. */
  readonly script: string;
  /** What cannot be brought back: one error for each pod that is wrong, or port that is taken. */
  readonly failures: readonly HeadcniError[];
}

/** An element somebody wants, and who. */
interface Wish {
  readonly element: PodElement;
  readonly pod: PodRules;
}

/**
 * Compares what `pods` need with what is there.
 *
 * A host port that several interfaces of one container ask for stays with the one that has it,
 * else the first of `pods` gets it. One that an unknown pod has stays where it is.
 */
export function restorePods(
  connection: NetlinkConnection,
  pods: readonly PodRules[],
): Restoration {
  const failures: HeadcniError[] = [];
  const there = new Map(POD_SETS.flatMap((set) => listSet(connection, set)));
  const wishes = choose(pods, { there, failures });
  const known = new Set(pods.map(({ hostInterface }) => hostInterface));
  const missing: PodElement[] = [];
  const wrong: PodElement[] = [];
  for (const [id, { element, pod }] of wishes) {
    const found = there.get(id);
    if (found !== undefined) {
      const owner = ownerOf(element.set, found);
      if (sameBytes(found.data, element.data) && owner === pod.hostInterface) continue;
      if (!sameBytes(found.data, element.data) && (owner === undefined || !known.has(owner))) {
        failures.push(new HostPortConflictError(describeConflict(pod, element, found)));
        continue;
      }
      wrong.push(element);
    }
    missing.push(element);
  }
  return { script: render("delete", wrong) + render("add", missing), failures };
}

/** One wish for each element; who comes second is told, unless it is the same container. */
function choose(
  pods: readonly PodRules[],
  { there, failures }: { there: ReadonlyMap<string, SetElement>; failures: HeadcniError[] },
): Map<string, Wish> {
  const chosen = new Map<string, Wish>();
  for (
    const { pod, elements } of pods.map((pod) => ({ pod, elements: tryElements(pod, failures) }))
  ) {
    for (const element of elements) {
      const id = elementId(element);
      const first = chosen.get(id);
      const has = (wish: Wish) => sameBytes(there.get(id)?.data, wish.element.data);
      if (first === undefined || isSibling(pod, first.pod) && has({ element, pod })) {
        chosen.set(id, { element, pod });
      } else if (!isSibling(pod, first.pod) && !sameBytes(element.data, first.element.data)) {
        const { data, owner } = first.element;
        const found = { key: element.key, ...(data === undefined ? {} : { data }), comment: owner };
        failures.push(new HostPortConflictError(describeConflict(pod, element, found)));
      }
    }
  }
  return chosen;
}

function isSibling(pod: PodRules, other: PodRules): boolean {
  return pod.container !== undefined && pod.container === other.container;
}

function tryElements(pod: PodRules, failures: HeadcniError[]): PodElement[] {
  try {
    return elementsOf(pod);
  } catch (error) {
    if (!(error instanceof HeadcniError)) throw error;
    failures.push(error);
    return [];
  }
}

function listSet(connection: NetlinkConnection, set: OwnSet): (readonly [string, SetElement])[] {
  try {
    return listSetElements(connection, set)
      .map((element) => [elementId({ set, key: element.key }), element] as const);
  } catch (error) {
    if (isErrno(error, "ENOENT")) return [];
    throw error;
  }
}

function ownerOf(set: OwnSet, { key, comment }: SetElement): string | undefined {
  return comment ?? leadingInterface(set.definition.key, key);
}

function render(verb: "add" | "delete", elements: readonly PodElement[]): string {
  return [...Map.groupBy(elements, ({ set }) => set)].map(([set, list]) => {
    const content = list.map((element) => renderElement(set, element, verb)).join(", ");
    return `${verb} element ${set.family} ${set.table} ${set.set} { ${content} }\n`;
  }).join("");
}

function renderElement({ definition }: OwnSet, element: PodElement, verb: string): string {
  const key = renderFields(definition.key, element.key);
  if (verb === "delete") return key;
  const comment = definition.key[0] === "ifname" ? "" : ` comment "${element.owner}"`;
  const { data } = element;
  const value = data === undefined || definition.value === undefined
    ? ""
    : ` : ${formatFields(definition.value, data)}`;
  return `${key}${comment}${value}`;
}
