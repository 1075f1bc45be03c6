/**
 * Adds to a policy what the cluster needs, and nothing else.
 *
 * A policy is somebody's text, with comments that say why a rule is there. It is not parsed and
 * printed again: what is missing is put in between, every character that was there stays. What
 * cannot be done that way is refused.
 */

import { parsePrefix, type Prefix } from "../ip/prefix.ts";
import { HeadcniError } from "../sys/errors.ts";
import {
  HujsonError,
  type HujsonList,
  type HujsonObject,
  type HujsonValue,
  parseHujson,
  plainValue,
} from "./hujson.ts";
import { appendTo, applyInsertions, type Insertion } from "./hujson_edit.ts";

/** What a cluster needs of a policy. */
export interface PolicyWish {
  /** Tag of all nodes of the cluster: `tag:k8s-node`. */
  readonly tag: string;
  /** Where all pod CIDRs are taken from, one per family. */
  readonly prefixes: readonly Prefix[];
  /**
   * Whether a policy without any rule allows everything (Headscale 0.27 and newer). If so, none
   * is added to such a policy: the first one would forbid everything else.
   */
  readonly allowsWithoutRules: boolean;
}

/** A policy with what was missing. */
export interface MergedPolicy {
  readonly text: string;
  /** What was added, for people; empty if nothing was missing. */
  readonly added: readonly string[];
}

/** A policy we cannot add to. */
export class PolicyError extends HeadcniError {
  override readonly name = "PolicyError";
}

/**
 * `text` with what `wish` needs: an owner entry for the tag, an auto-approver per prefix, one
 * rule that accepts traffic among nodes and pods.
 *
 * Without a policy (`undefined`) Headscale allows everything; the policy made then says so too.
 *
 * @throws {PolicyError} if it is no policy we can add to.
 */
export function mergePolicy(text: string | undefined, wish: PolicyWish): MergedPolicy {
  if (!/^tag:[a-z][a-z0-9-]*$/.test(wish.tag)) throw refuse(`"${wish.tag}" is no tag`);
  if (text === undefined || text.trim() === "") return { text: firstPolicy(wish), added: ["all"] };
  const root = parse(text);
  const merge = new Merge(text, root, wish);
  merge.tagOwner();
  merge.autoApprovers();
  merge.acceptRule();
  const merged = merge.finish();
  parse(merged.text); // what we made must be readable, whatever the layout was
  return merged;
}

class Merge {
  readonly #text: string;
  readonly #root: HujsonObject;
  readonly #wish: PolicyWish;
  readonly #insertions: Insertion[] = [];
  readonly #rootPieces: string[] = [];
  readonly #added: string[] = [];

  constructor(text: string, root: HujsonObject, wish: PolicyWish) {
    this.#text = text;
    this.#root = root;
    this.#wish = wish;
  }

  tagOwner(): void {
    const { tag } = this.#wish;
    const owners = objectOf(this.#root, "tagOwners");
    if (owners !== undefined && memberOf(owners, tag) !== undefined) return;
    this.#added.push(`tagOwners: ${tag}`);
    this.#addMember(owners, { key: "tagOwners", piece: `${JSON.stringify(tag)}: []` });
  }

  autoApprovers(): void {
    const approvers = objectOf(this.#root, "autoApprovers");
    const routes = approvers === undefined ? undefined : objectOf(approvers, "routes");
    const pieces: string[] = [];
    for (const prefix of this.#wish.prefixes) {
      if (this.#isApproved(routes, prefix)) continue;
      this.#added.push(`autoApprovers: ${prefix}`);
      const list = routes?.members.find(({ key }) => samePrefix(key, prefix))?.value;
      if (list?.kind === "list") this.#append(list, [JSON.stringify(this.#wish.tag)]);
      else pieces.push(`${JSON.stringify(`${prefix}`)}: ${JSON.stringify([this.#wish.tag])}`);
    }
    if (pieces.length === 0) return;
    if (routes !== undefined) return this.#append(routes, pieces);
    const piece = `"routes": {${pieces.join(", ")}}`;
    this.#addMember(approvers, { key: "autoApprovers", piece });
  }

  acceptRule(): void {
    const rules = listOf(this.#root, "acls");
    const grants = listOf(this.#root, "grants");
    if (rules === undefined && grants === undefined && this.#wish.allowsWithoutRules) return;
    const wanted = acceptRule(this.#wish);
    if (rules?.elements.some((rule) => covers(plainValue(rule), wanted)) === true) return;
    this.#added.push("acls: nodes and pods of the cluster reach each other");
    if (rules !== undefined) return this.#append(rules, [JSON.stringify(wanted)]);
    this.#rootPieces.push(`"acls": [${JSON.stringify(wanted)}]`);
  }

  finish(): MergedPolicy {
    this.#append(this.#root, this.#rootPieces);
    return { text: applyInsertions(this.#text, this.#insertions), added: this.#added };
  }

  /** Adds `piece` to `object`, which is the member `key` of the root, or will be. */
  #addMember(
    object: HujsonObject | undefined,
    member: { readonly key: string; readonly piece: string },
  ): void {
    if (object !== undefined) return this.#append(object, [member.piece]);
    this.#rootPieces.push(`${JSON.stringify(member.key)}: {${member.piece}}`);
  }

  #append(container: HujsonList | HujsonObject, pieces: readonly string[]): void {
    this.#insertions.push(...appendTo(this.#text, container, pieces));
  }

  /** Whether an entry for the prefix, or for a wider one, names our tag. */
  #isApproved(routes: HujsonObject | undefined, prefix: Prefix): boolean {
    return routes?.members.some(({ key, value }) => {
      const approvers = plainValue(value);
      return contains(key, prefix) && Array.isArray(approvers) &&
        approvers.includes(this.#wish.tag);
    }) ?? false;
  }
}

/** A rule of `acls`. */
interface Rule {
  readonly action: "accept";
  readonly src: readonly string[];
  readonly dst: readonly string[];
}

/**
 * Nodes and pods, both as source and destination. Prefixes alone would not do: before 0.29 they
 * do not make two nodes peers. Everything else of the tailnet is for its administrator to open.
 */
function acceptRule(wish: PolicyWish): Rule {
  const names = [wish.tag, ...wish.prefixes.map(String)];
  return { action: "accept", src: names, dst: names.map((name) => `${name}:*`) };
}

/** Whether `rule` of a policy allows at least what `wanted` does. */
function covers(rule: unknown, wanted: Rule): boolean {
  if (typeof rule !== "object" || rule === null) return false;
  const { action, src, dst, proto } = rule as Record<string, unknown>;
  const all = (list: unknown, names: readonly string[]) =>
    Array.isArray(list) && names.every((name) => list.includes(name));
  return action === "accept" && (proto === undefined || proto === "") && all(src, wanted.src) &&
    all(dst, wanted.dst);
}

/** Where there is none: all may talk, as without a policy, and our pods by name (see 0.29). */
function firstPolicy(wish: PolicyWish): string {
  const approvers = wish.prefixes.map((prefix) => `      "${prefix}": ["${wish.tag}"]`);
  const rule = acceptRule(wish);
  return `{
  "tagOwners": {
    "${wish.tag}": []
  },
  "autoApprovers": {
    "routes": {
${approvers.join(",\n")}
    }
  },
  "acls": [
    // As without a policy: everybody reaches everything.
    {"action": "accept", "src": ["*"], "dst": ["*:*"]},
    // "*" does not cover pods in every version of Headscale.
    ${JSON.stringify(rule)}
  ]
}
`;
}

function parse(text: string): HujsonObject {
  let root: HujsonValue;
  try {
    root = parseHujson(text);
  } catch (error) {
    if (!(error instanceof HujsonError)) throw error;
    throw refuse(`it is no HuJSON: ${error.reason}`, error);
  }
  if (root.kind !== "object") throw refuse("it is no object");
  return root;
}

/** Members in any case, as Go reads them; two of one name are not ours to choose from. */
function memberOf(object: HujsonObject, key: string): HujsonValue | undefined {
  const found = object.members.filter((member) => member.key.toLowerCase() === key.toLowerCase());
  if (found.length > 1) throw refuse(`it has ${key} twice`);
  return found[0]?.value;
}

function objectOf(object: HujsonObject, key: string): HujsonObject | undefined {
  const value = memberOf(object, key);
  if (value === undefined || value.kind === "object") return value;
  throw refuse(`${key} is no object`);
}

function listOf(object: HujsonObject, key: string): HujsonList | undefined {
  const value = memberOf(object, key);
  if (value === undefined || value.kind === "list") return value;
  throw refuse(`${key} is no list`);
}

function samePrefix(text: string, prefix: Prefix): boolean {
  return text === `${prefix}`;
}

function contains(text: string, prefix: Prefix): boolean {
  try {
    return parsePrefix(text).contains(prefix);
  } catch (error) {
    if (error instanceof HeadcniError) return false; // a host name, defined elsewhere in the policy
    throw error;
  }
}

function refuse(reason: string, cause?: unknown): PolicyError {
  return new PolicyError({
    operation: "add to the policy of Headscale",
    reason,
    remedy: "Add what the cluster needs by hand: see docs/headscale.md",
    ...(cause === undefined ? {} : { cause }),
  });
}
