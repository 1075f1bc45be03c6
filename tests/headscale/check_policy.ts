/** The policy: none, ours, somebody's with comments, one in a file. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { openHeadscale, PolicyError } from "../../lib/headscale/mod.ts";
import { isSubsequence } from "../../lib/headscale/testing.ts";
import { parsePrefix } from "../../lib/ip/mod.ts";
import { type ConformanceCase, PATIENCE, TAG } from "./conformance_case.ts";
import type { TestHeadscale } from "./server.ts";

/** Where pods of the suite are that need no approval by hand. */
const WISH = {
  tag: TAG,
  prefixes: [parsePrefix("10.245.0.0/16"), parsePrefix("fd00:10:245::/48")],
};

/** Somebody's policy, with what a person writes into it. */
const THEIRS = `// Office network, 2026. Ask Ada before you change it!
{
  "tagOwners": {
    "tag:printer": [], // the ones on the second floor
  },
  /* nobody reaches the printers but printers */
  "acls": [
    {"action": "accept", "src": ["tag:printer"], "dst": ["tag:printer:631"]}, // IPP
  ],
}
`;

function setPolicy(server: TestHeadscale, text: string): void {
  const path = `${server.directory}/policy.hujson`;
  Deno.writeTextFileSync(path, text);
  server.cli("policy", "set", "--file", path);
}

/** The steps; afterwards the policy has {@linkcode WISH}. */
export async function checkPolicy(t: Deno.TestContext, test: ConformanceCase): Promise<void> {
  const { client, server } = test;

  await t.step("makes a policy where there is none, and only once", async () => {
    assertEquals(await client.policy(), undefined);
    const first = await client.ensurePolicy(WISH);
    assertEquals(first.outcome, "written");
    assertEquals(await client.policy(), first.text);
    assertEquals((await client.ensurePolicy(WISH)).outcome, "unchanged");
  });

  await t.step("adds to somebody's policy and keeps every character of it", async () => {
    setPolicy(server, THEIRS);
    const { outcome, text } = await client.ensurePolicy(WISH);
    assertEquals(outcome, "written");
    assertEquals(await client.policy(), text);
    assert(isSubsequence(THEIRS, text), text);
    for (const kept of ["Ask Ada", "second floor", "/* nobody", "// IPP", "10.245.0.0/16"]) {
      assert(text.includes(kept), `${kept} is missing: ${text}`);
    }
    assertEquals((await client.ensurePolicy(WISH)).outcome, "unchanged");
  });

  await t.step("leaves alone what it cannot add to", async () => {
    const before = await client.policy();
    await assertRejects(() => client.ensurePolicy({ ...WISH, tag: "printer" }), PolicyError);
    assertEquals(await client.policy(), before);
  });

  await t.step("goes on with a policy that lets all talk", async () => {
    setPolicy(server, `{"acls": [{"action": "accept", "src": ["*"], "dst": ["*:*"]}]}`);
    assertEquals((await client.ensurePolicy(WISH)).outcome, "written");
  });
}

/** A policy in a file is not ours to write. */
export async function checkFilePolicy(server: TestHeadscale): Promise<void> {
  const apiKey = server.createApiKey();
  using client = openHeadscale({ url: server.url, apiKey, ...PATIENCE });
  assertEquals(await client.policy(), undefined);
  const { outcome, added } = await client.ensurePolicy(WISH);
  assertEquals(outcome, "readOnly");
  assert(added.length > 0, "it says what is missing");
  assertEquals(await client.policy(), undefined);
}
