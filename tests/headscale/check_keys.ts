/** Pre-auth keys. */

import { assert, assertEquals } from "@std/assert";
import { KEY_LIFETIME_MS } from "../../lib/headscale/mod.ts";
import { type ConformanceCase, TAG } from "./conformance_case.ts";

/** A key as the server lists it. */
interface ListedKey {
  readonly id: string;
  readonly reusable: boolean;
  readonly ephemeral: boolean;
  readonly expiration: string;
  readonly aclTags: readonly string[];
}

/** What the server knows of key `id`, asked without the client under test. */
async function listedKey(test: ConformanceCase, id: string): Promise<ListedKey> {
  const user = await test.client.ensureUser("k8s");
  const { keyUser } = await test.client.features();
  const reply = await fetch(`${test.server.url}/api/v1/preauthkey?user=${user[keyUser]}`, {
    headers: { authorization: `Bearer ${test.apiKey.expose()}` },
  });
  const { preAuthKeys } = await reply.json();
  const key = preAuthKeys.find((one: ListedKey) => one.id === id);
  assert(key !== undefined, Deno.inspect(preAuthKeys));
  return key;
}

/** The steps. */
export async function checkKeys(t: Deno.TestContext, test: ConformanceCase): Promise<void> {
  const { client } = test;
  const user = await client.ensureUser("k8s");

  await t.step("mints a key for one node and ten minutes", async () => {
    const before = Date.now();
    const minted = await client.mintKey({ user, tags: [TAG] });
    const { reusable, ephemeral, expiration, aclTags } = await listedKey(test, minted.id);
    assertEquals({ reusable, ephemeral, aclTags }, {
      reusable: false,
      ephemeral: false,
      aclTags: [TAG],
    });
    const lifetimeMs = Date.parse(expiration) - before;
    assert(lifetimeMs > 0 && lifetimeMs <= KEY_LIFETIME_MS + 60_000, expiration);
  });

  await t.step("ends a key that was not used, and minds no second time", async () => {
    const minted = await client.mintKey({ user });
    await client.expireKey(minted);
    const { expiration } = await listedKey(test, minted.id);
    assert(Date.parse(expiration) <= Date.now() + 5000, expiration);
    await client.expireKey(minted);
  });
}
