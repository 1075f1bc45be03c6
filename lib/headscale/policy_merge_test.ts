import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { parsePrefix } from "../ip/prefix.ts";
import { type SeededRandom, seededRandom } from "../sys/testing.ts";
import { parseHujson, plainValue } from "./hujson.ts";
import { mergePolicy, PolicyError, type PolicyWish } from "./policy_merge.ts";
import { isSubsequence } from "./testing.ts";

const TAG = "tag:k8s-node";
const WISH: PolicyWish = {
  tag: TAG,
  prefixes: [parsePrefix("10.244.0.0/16"), parsePrefix("fd00:10:244::/48")],
  allowsWithoutRules: true,
};
const RULE = {
  action: "accept",
  src: [TAG, "10.244.0.0/16", "fd00:10:244::/48"],
  dst: [`${TAG}:*`, "10.244.0.0/16:*", "fd00:10:244::/48:*"],
};

/** The policy `text` with what is missing, as a value. */
function merged(text: string | undefined, wish: PolicyWish = WISH): Record<string, unknown> {
  const result = mergePolicy(text, wish);
  assertEquals(mergePolicy(result.text, wish).added, [], "a second time nothing is missing");
  return plainValue(parseHujson(result.text)) as Record<string, unknown>;
}

Deno.test("without a policy the first one still lets everybody talk", () => {
  assertEquals(merged(undefined), {
    tagOwners: { [TAG]: [] },
    autoApprovers: { routes: { "10.244.0.0/16": [TAG], "fd00:10:244::/48": [TAG] } },
    acls: [{ action: "accept", src: ["*"], dst: ["*:*"] }, RULE],
  });
});

Deno.test("a policy gets what it lacks, beside what it has", () => {
  const text = `{
  // owners
  "tagOwners": {"tag:a": ["ada@"]},
  "autoApprovers": {"exitNode": ["tag:a"]},
  "acls": [
    {"action": "accept", "src": ["*"], "dst": ["tag:a:22"]}, // ssh
  ],
}`;
  const { text: result, added } = mergePolicy(text, WISH);
  assertEquals(added, [
    "tagOwners: tag:k8s-node",
    "autoApprovers: 10.244.0.0/16",
    "autoApprovers: fd00:10:244::/48",
    "acls: nodes and pods of the cluster reach each other",
  ]);
  for (const kept of ["// owners", "// ssh"]) assertStringIncludes(result, kept);
  assertEquals(merged(text), {
    tagOwners: { "tag:a": ["ada@"], [TAG]: [] },
    autoApprovers: {
      exitNode: ["tag:a"],
      routes: { "10.244.0.0/16": [TAG], "fd00:10:244::/48": [TAG] },
    },
    acls: [{ action: "accept", src: ["*"], dst: ["tag:a:22"] }, RULE],
  });
});

Deno.test("an auto-approver that is there gets our tag, a wider one is enough", () => {
  const text = JSON.stringify({
    tagOwners: { [TAG]: ["ada@"] },
    autoApprovers: { routes: { "10.244.0.0/16": ["tag:a"], "fd00::/8": [TAG] } },
    acls: [RULE],
  });
  assertEquals(mergePolicy(text, WISH).added, ["autoApprovers: 10.244.0.0/16"]);
  assertEquals(merged(text).autoApprovers, {
    routes: { "10.244.0.0/16": ["tag:a", TAG], "fd00::/8": [TAG] },
  });
});

Deno.test("a policy without rules is left without where that allows all", () => {
  assertEquals(Object.hasOwn(merged("{}"), "acls"), false);
  assertEquals(merged("{}", { ...WISH, allowsWithoutRules: false }).acls, [RULE]);
  assertEquals(merged('{"acls": []}').acls, [RULE], "an empty list denies all");
  assertEquals(merged('{"grants": []}').acls, [RULE], "so does one of grants");
});

Deno.test("a rule for one protocol, or of less, is not ours", () => {
  for (const other of [{ ...RULE, proto: "tcp" }, { ...RULE, dst: RULE.dst.slice(1) }]) {
    assertEquals(merged(JSON.stringify({ acls: [other] })).acls, [other, RULE]);
  }
  const more = { ...RULE, src: ["tag:a", ...RULE.src] };
  assertEquals(merged(JSON.stringify({ acls: [more] })).acls, [more]);
});

Deno.test("keys are found in any case, as Headscale reads them", () => {
  assertEquals(Object.keys(merged('{"ACLs": [], "TagOwners": {}}')).sort(), [
    "ACLs",
    "TagOwners",
    "autoApprovers",
  ]);
});

Deno.test("what cannot be added to is refused, and says what to do", () => {
  const cases = {
    "no HuJSON": ["{", "it is no HuJSON"],
    "a list": ["[]", "it is no object"],
    twice: ['{"acls": [], "ACLs": []}', "it has acls twice"],
    "acls null": ['{"acls": null}', "acls is no list"],
    "routes a list": ['{"autoApprovers": {"routes": []}}', "routes is no object"],
  } as const;
  for (const [text, reason] of Object.values(cases)) {
    const error = assertThrows(() => mergePolicy(text, WISH), PolicyError, reason);
    assertStringIncludes(error.remedy ?? "", "docs/headscale.md");
  }
  for (const tag of ["k8s", 'tag:a", "*', "tag:", "tag:A"]) {
    assertThrows(() => mergePolicy("{}", { ...WISH, tag }), PolicyError, "is no tag");
  }
});

Deno.test("whatever the layout, nothing is lost and a second time nothing is missing", () => {
  const seed = 20260802;
  const random = seededRandom(seed);
  for (let round = 0; round < 400; round++) {
    const text = randomPolicy(random);
    const context = `seed ${seed}, round ${round}:\n${text}`;
    const { text: result } = mergePolicy(text, { ...WISH, allowsWithoutRules: false });
    assert(isSubsequence(text, result), context);
    const [before, after] = [text, result].map((one) =>
      plainValue(parseHujson(one)) as Record<string, unknown>
    );
    for (const [key, value] of Object.entries(before ?? {})) {
      assert(covers(after?.[key], value), `${context}\n${key}:\n${result}`);
    }
    assertEquals(mergePolicy(result, { ...WISH, allowsWithoutRules: false }).added, [], context);
  }
});

/** A policy with random members, comments, commas and white space. */
function randomPolicy(random: SeededRandom): string {
  const blank = () => random.pick(["", " ", "\n", "\n  ", " // x\n", "/* y */", "\t/* z\n */ "]);
  const join = (open: string, items: readonly string[], close: string) => {
    const comma = items.length > 0 ? random.pick(["", ","]) : "";
    const inner = items.map((item) => `${blank()}${item}${blank()}`).join(",");
    return `${open}${inner}${comma}${blank()}${close}`;
  };
  const some = (items: readonly string[]) => items.filter(() => random.integer(2) === 0);
  const routes = join("{", some(['"10.244.0.0/16": ["tag:a"]', `"fd00::/8": ["${TAG}"]`]), "}");
  return blank() + join(
    "{",
    some([
      `"tagOwners":${blank()}${join("{", some(['"tag:a": []', `"${TAG}": ["ada@"]`]), "}")}`,
      `"autoApprovers": ${join("{", some([`"routes": ${routes}`, '"exitNode": []']), "}")}`,
      `"acls": ${join("[", some(['{"action": "accept", "src": ["*"], "dst": ["*:*"]}']), "]")}`,
      '"hosts": {"a": "10.0.0.1/32"}',
    ]),
    "}",
  ) + blank();
}

/** Whether all of `before` is in `after`, in its place. */
function covers(after: unknown, before: unknown): boolean {
  if (Array.isArray(before)) {
    return Array.isArray(after) && before.every((value, index) => covers(after[index], value));
  }
  if (typeof before !== "object" || before === null) return after === before;
  return typeof after === "object" && after !== null &&
    Object.entries(before).every(([key, value]) =>
      covers((after as Record<string, unknown>)[key], value)
    );
}
