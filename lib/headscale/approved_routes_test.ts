import { assertEquals, assertStringIncludes } from "@std/assert";
import { parsePrefix, type Prefix } from "../ip/prefix.ts";
import { seededRandom } from "../sys/testing.ts";
import {
  mergeApproved,
  refusedPrefixes,
  RouteRefusedError,
  withoutApproved,
} from "./approved_routes.ts";
import type { HeadscaleNode } from "./nodes.ts";

const prefixes = (...texts: readonly string[]) => texts.map((text) => parsePrefix(text));

function node(changes: Partial<HeadscaleNode>): HeadscaleNode {
  return {
    id: "1",
    nodeKey: "nodekey:01",
    hostname: "one",
    givenName: "one",
    user: undefined,
    addresses: [],
    tags: [],
    online: true,
    expiresAtMs: undefined,
    advertised: [],
    approved: [],
    primary: undefined,
    ...changes,
  };
}

function refusals(mine: string, ...nodes: readonly HeadscaleNode[]): [string, string][] {
  return refusedPrefixes(prefixes(mine), "1", nodes).map(({ why, reason }) => [why, reason]);
}

Deno.test("mergeApproved keeps what is there and adds what is missing once", () => {
  const current = prefixes("192.168.7.0/24", "0.0.0.0/0", "::/0", "10.244.3.0/24");
  const mine = prefixes("10.244.3.0/24", "fd00::/64", "fd00::/64");
  assertEquals(mergeApproved(current, mine).map(String), [
    ...current.map(String),
    "fd00::/64",
  ]);
  assertEquals(mergeApproved(current, []).length, current.length);
});

Deno.test("withoutApproved takes out exactly ours, not what contains or is contained", () => {
  const current = prefixes("10.244.0.0/16", "10.244.3.0/24", "10.244.3.0/25");
  assertEquals(withoutApproved(current, prefixes("10.244.3.0/24")).map(String), [
    "10.244.0.0/16",
    "10.244.3.0/25",
  ]);
});

Deno.test("merging and taking out again leaves what others had, whatever it was", () => {
  const seed = 20260801;
  const random = seededRandom(seed);
  const some = (): Prefix[] =>
    Array.from(
      { length: random.integer(6) },
      () => parsePrefix(`10.${random.integer(3)}.${random.integer(3)}.0/24`),
    );
  for (let round = 0; round < 500; round++) {
    const [theirs, mine] = [mergeApproved(some(), []), some()];
    const merged = mergeApproved(theirs, mine);
    assertEquals(
      withoutApproved(merged, mine).map(String),
      withoutApproved(theirs, mine).map(String),
      `seed ${seed}, round ${round}`,
    );
    assertEquals(new Set(merged.map(String)).size, merged.length, "nothing twice");
  }
});

Deno.test("refused: everything, host bits, addresses of the tailnet", () => {
  assertEquals(refusals("0.0.0.0/0").map(([why]) => why), ["Default"]);
  assertEquals(refusals("::/0").map(([why]) => why), ["Default"]);
  assertEquals(refusals("10.244.3.7/24"), [[
    "HostBits",
    "10.244.3.7/24 has host bits set; did you mean 10.244.3.0/24?",
  ]]);
  for (const text of ["100.64.0.0/10", "100.100.0.0/24", "100.0.0.0/8", "fd7a:115c:a1e0:1::/64"]) {
    assertEquals(refusals(text).map(([why]) => why), ["Tailnet"], text);
  }
  assertEquals(refusals("100.128.0.0/24"), []);
  assertEquals(refusals("fd7a:115c:a1e1::/64"), []);
});

Deno.test("refused: what another node advertises or is approved for, in either direction", () => {
  const other = node({ id: "2", givenName: "two", advertised: prefixes("10.244.3.0/24") });
  for (const mine of ["10.244.3.0/24", "10.244.3.128/25", "10.244.0.0/16"]) {
    assertEquals(refusals(mine, other), [[
      "Overlap",
      "node 2 (two, online) advertises 10.244.3.0/24",
    ]]);
  }
  const promised = node({ id: "3", online: false, approved: prefixes("10.244.4.0/24") });
  assertEquals(refusals("10.244.4.0/24", promised), [[
    "Overlap",
    "node 3 (one, offline) is approved for 10.244.4.0/24",
  ]]);
  assertEquals(refusals("10.244.5.0/24", other, promised), []);
});

Deno.test("not refused: our own routes, and beside somebody's exit node", () => {
  const own = node({ id: "1", advertised: prefixes("10.244.3.0/24") });
  const exit = node({ id: "2", advertised: prefixes("0.0.0.0/0", "::/0") });
  assertEquals(refusals("10.244.3.0/24", own, exit), []);
});

Deno.test("the error of a refusal names node and way out", () => {
  const other = node({ id: "2", givenName: "two", advertised: prefixes("10.244.3.0/24") });
  const error = new RouteRefusedError(refusedPrefixes(prefixes("10.244.3.0/24"), "1", [other]));
  assertEquals(
    error.message,
    "Cannot approve 10.244.3.0/24: node 2 (two, online) advertises 10.244.3.0/24",
  );
  assertStringIncludes(error.remedy ?? "", "headscale nodes delete -i 2");
});
