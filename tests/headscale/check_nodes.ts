/** Nodes and their routes, with two real ones. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { HeadscaleError, RouteRefusedError } from "../../lib/headscale/mod.ts";
import { parsePrefix } from "../../lib/ip/mod.ts";
import { type ConformanceCase, eventually, TAG } from "./conformance_case.ts";
import type { TestTailscale } from "./node.ts";

/** The pod CIDRs of the first node; no auto-approver covers them. */
const MINE = ["10.244.3.0/24", "fd00:10:244:3::/64"].map((text) => parsePrefix(text));
/** A route of the first node that is its administrator's. */
const THEIRS = "192.168.7.0/24";
/** A pod CIDR that the policy approves by itself. */
const AUTOMATIC = "10.245.1.0/24";
/** A prefix nobody advertises. */
const LATER = parsePrefix("10.244.99.0/24");

/** The steps. */
export async function checkNodes(t: Deno.TestContext, test: ConformanceCase): Promise<void> {
  const { client } = test;
  const user = await client.ensureUser("k8s");
  const [a, b] = [test.startNode("node-a"), test.startNode("node-b")];
  a.up((await client.mintKey({ user, tags: [TAG] })).key, [...MINE.map(String), THEIRS]);
  b.up((await client.mintKey({ user, tags: [TAG] })).key, [AUTOMATIC]);

  await t.step("lists the nodes as they know themselves", () => checkList(test, a, b));
  await t.step("approves ours, and leaves what somebody approved", () => checkApprove(test, a, b));
  await t.step("refuses what another node has, naming it", () => checkOverlap(test, a, b));
  await t.step("touches no node whose key is another", () => checkKey(test, a));
  await t.step("prepares for a prefix that is advertised later", () => checkLater(test, a));
  await t.step("takes back ours alone", () => checkWithdraw(test, a, b));
  await t.step("renames, tags, expires and deletes", () => checkChanges(test, a, b));
}

async function checkList(
  test: ConformanceCase,
  a: TestTailscale,
  b: TestTailscale,
): Promise<void> {
  const nodes = await eventually(
    () => test.client.nodes(),
    (seen) => seen.every(({ online, advertised }) => online && advertised.length > 0),
  );
  assertEquals(nodes.map(({ id, nodeKey }) => ({ id, nodeKey })), [a.own(), b.own()]);
  const [first, second] = nodes;
  assertEquals(first?.hostname, "node-a");
  assertEquals(first?.tags, [TAG]);
  assertEquals(
    first?.user,
    test.version.startsWith("0.2") && test.version < "0.28" ? "k8s" : undefined,
  );
  assertEquals(first?.addresses.map(String), ["100.64.0.1", "fd7a:115c:a1e0::1"]);
  assertEquals(texts(first?.advertised), [...MINE.map(String), THEIRS].sort());
  assertEquals(texts(first?.approved), []);
  // 0.25 does not apply auto-approvers to the tags of a pre-auth key.
  if (!test.hasRouteRows) assertEquals(texts(second?.approved), [AUTOMATIC]);
}

/**
 * The peer's word counts, not `Self.PrimaryRoutes` of the node itself: from 0.29 on Headscale does
 * not tell a node that its own routes were approved, until it sends the whole map again.
 */
async function checkApprove(
  test: ConformanceCase,
  a: TestTailscale,
  b: TestTailscale,
): Promise<void> {
  const { client } = test;
  const own = a.own();
  approveByHand(test, own.id);
  assertEquals(await client.approve({ own, mine: MINE }), { changed: true, waiting: [] });
  const all = [...MINE.map(String), THEIRS].sort();
  assertEquals(texts((await client.node(own.id)).approved), all);
  assertEquals(await client.approve({ own, mine: MINE }), { changed: false, waiting: [] });
  await eventually(() => b.routesTo(own), (seen) => `${seen}` === `${all}`);
  const listed = (await client.nodes()).find(({ id }) => id === own.id);
  assertEquals(texts(listed?.primary), all);
}

/** What an administrator types. */
function approveByHand(test: ConformanceCase, id: string): void {
  if (!test.hasRouteRows) {
    test.server.cli("nodes", "approve-routes", "--identifier", id, "--routes", THEIRS);
    return;
  }
  const rows: { id: number; prefix: string }[] = JSON.parse(
    test.server.cli("routes", "list", "-o", "json"),
  );
  const row = rows.find(({ prefix }) => prefix === THEIRS);
  test.server.cli("routes", "enable", "--route", `${row?.id}`);
}

async function checkOverlap(
  test: ConformanceCase,
  a: TestTailscale,
  b: TestTailscale,
): Promise<void> {
  const own = b.own();
  const before = await test.client.node(own.id);
  const mine = [parsePrefix("10.244.3.128/25"), parsePrefix("10.99.0.0/24")];
  const error = await assertRejects(() => test.client.approve({ own, mine }), RouteRefusedError);
  assertEquals(error.refusals.map(({ why, node }) => [why, node?.id]), [[
    "Overlap",
    a.own().id,
  ]]);
  assert(error.message.includes("(node-a, online) advertises 10.244.3.0/24"), error.message);
  assertEquals((await test.client.node(own.id)).approved, before.approved);
  for (const refused of ["0.0.0.0/0", "::/0", "100.64.9.0/24", "fd7a:115c:a1e0:1::/64"]) {
    const request = { own, mine: [parsePrefix(refused)] };
    await assertRejects(() => test.client.approve(request), RouteRefusedError);
  }
}

async function checkKey(test: ConformanceCase, a: TestTailscale): Promise<void> {
  const own = { ...a.own(), nodeKey: `nodekey:${"0".repeat(64)}` };
  for (const change of ["approve", "withdraw"] as const) {
    const request = { own, mine: MINE };
    const error = await assertRejects(() => test.client[change](request), HeadscaleError);
    assertEquals(error.kind, "NotOurs");
  }
}

async function checkLater(test: ConformanceCase, a: TestTailscale): Promise<void> {
  const own = a.own();
  const result = await test.client.approve({ own, mine: [LATER] });
  assertEquals(
    { changed: result.changed, waiting: texts(result.waiting) },
    test.hasRouteRows ? { changed: false, waiting: [`${LATER}`] } : { changed: true, waiting: [] },
  );
}

async function checkWithdraw(
  test: ConformanceCase,
  a: TestTailscale,
  b: TestTailscale,
): Promise<void> {
  const own = a.own();
  const mine = [...MINE, LATER];
  assertEquals((await test.client.withdraw({ own, mine })).changed, true);
  assertEquals(texts((await test.client.node(own.id)).approved), [THEIRS]);
  assertEquals((await test.client.withdraw({ own, mine })).changed, false);
  await eventually(() => b.routesTo(own), (seen) => `${seen}` === THEIRS);
}

async function checkChanges(
  test: ConformanceCase,
  a: TestTailscale,
  b: TestTailscale,
): Promise<void> {
  const { client } = test;
  const [first, second] = [a.own().id, b.own().id];
  await client.renameNode({ id: first, name: "worker-1" });
  assertEquals((await client.node(first)).givenName, "worker-1");
  await client.setNodeTags({ id: first, tags: [TAG] });
  assertEquals((await client.node(first)).tags, [TAG]);
  const refused = await assertRejects(
    () => client.setNodeTags({ id: first, tags: ["printer"] }),
    HeadscaleError,
  );
  assertEquals(refused.kind, "Refused");
  await client.expireNode(first);
  const { expiresAtMs } = await client.node(first);
  assert(expiresAtMs !== undefined && expiresAtMs <= Date.now() + 1000, `${expiresAtMs}`);
  assertEquals(await client.deleteNode(second), true);
  assertEquals(await client.deleteNode(second), false);
  const gone = { own: b.own(), mine: [LATER] };
  const error = await assertRejects(() => client.approve(gone), HeadscaleError);
  assertEquals(error.kind, "NotFound");
  assertEquals(await client.withdraw(gone), { changed: false, waiting: [] });
}

function texts(prefixes: readonly unknown[] = []): string[] {
  return prefixes.map(String).sort();
}
