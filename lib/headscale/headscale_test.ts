import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { parsePrefix } from "../ip/prefix.ts";
import { describeError } from "../sys/errors.ts";
import { FileError } from "../sys/file_error.ts";
import { Secret } from "../sys/secret.ts";
import { MemoryFiles, recordingLog } from "../sys/testing.ts";
import { ApiKeyError } from "./api_key.ts";
import { HeadscaleError } from "./errors.ts";
import { type Headscale, openHeadscale } from "./headscale.ts";
import {
  type Answer,
  apiDescription,
  CANARY,
  CURRENT_FEATURES,
  OLD_FEATURES,
  openScripted,
  problem,
  type ScriptedServer,
  startScriptedServer,
  wireNode,
} from "./testing.ts";

const OWN = { id: "7", nodeKey: "nodekey:07" };
const MINE = [parsePrefix("10.244.3.0/24")];
const MINTED_CANARY = "hskey-auth-canary-fedcba9876543210";
const MINTED = {
  id: "5",
  key: new Secret(MINTED_CANARY),
  user: { id: "3", name: "k8s" },
  expiresAtMs: 0,
};

/** Every call there is. */
const CALLS: Readonly<Record<string, (client: Headscale) => Promise<unknown>>> = {
  health: (client) => client.isHealthy(),
  version: (client) => client.version(),
  users: (client) => client.users(),
  "ensure user": (client) => client.ensureUser("k8s"),
  mint: (client) => client.mintKey({ user: MINTED.user, tags: ["tag:a"] }),
  "mint for a user": (client) => client.mintKey({ user: MINTED.user }),
  "expire key": (client) => client.expireKey(MINTED),
  nodes: (client) => client.nodes(),
  node: (client) => client.node("7"),
  "expire node": (client) => client.expireNode("7"),
  "delete node": (client) => client.deleteNode("7"),
  rename: (client) => client.renameNode({ id: "7", name: "a b/ä" }),
  tags: (client) => client.setNodeTags({ id: "7", tags: ["tag:a"] }),
  approve: (client) => client.approve({ own: OWN, mine: MINE }),
  withdraw: (client) => client.withdraw({ own: OWN, mine: [parsePrefix("10.9.0.0/24")] }),
  policy: (client) => client.policy(),
  "ensure policy": (client) => client.ensurePolicy({ tag: "tag:a", prefixes: MINE }),
};

/** What 0.30 documents for each body; it answers anything else with 422. */
const DOCUMENTED: Readonly<Record<string, readonly string[]>> = {
  "POST /api/v1/user": ["name", "displayName", "email", "pictureUrl"],
  "POST /api/v1/preauthkey": ["user", "reusable", "ephemeral", "expiration", "aclTags"],
  "POST /api/v1/preauthkey/expire": ["id"],
  "POST /api/v1/node/7/tags": ["tags"],
  "POST /api/v1/node/7/approve_routes": ["routes"],
  "PUT /api/v1/policy": ["policy"],
  "POST /api/v1/policy/check": ["policy"],
  "POST /api/v1/node/7/expire": ["expiry", "disableExpiry"],
};

/** A server that takes nothing it does not know. */
function strictAnswers(): Record<string, Answer> {
  const node = wireNode({ approvedRoutes: ["10.9.0.0/24"] });
  const key = { id: "5", key: "hskey-auth-1" };
  const paths = { "/api/v1/node/{nodeId}/approve_routes": {} };
  const answers: Record<string, unknown> = {
    "GET /api/v1/openapi.json": { openapi: "3.1.0", paths },
    "GET /health": { status: "pass" },
    "GET /version": { version: "v0.30.0" },
    "GET /api/v1/user": { users: [] },
    "POST /api/v1/user": { user: { id: "1", name: "k8s" } },
    "POST /api/v1/preauthkey": { preAuthKey: key },
    "POST /api/v1/preauthkey/expire": {},
    "GET /api/v1/node": { nodes: [node] },
    "GET /api/v1/node/7": { node },
    "DELETE /api/v1/node/7": {},
    "POST /api/v1/node/7/expire": { node },
    "POST /api/v1/node/7/tags": { node },
    "POST /api/v1/node/7/rename/a%20b%2F%C3%A4": { node },
    "POST /api/v1/node/7/approve_routes": { node },
    "GET /api/v1/policy": { policy: "{}", updatedAt: "" },
    "PUT /api/v1/policy": { policy: "{}" },
    "POST /api/v1/policy/check": {},
  };
  return Object.fromEntries(
    Object.entries(answers).map(([call, answer]) => [call, ({ body }) => {
      const unknown = Object.keys(body ?? {}).filter((name) => !DOCUMENTED[call]?.includes(name));
      const error = (name: string) => ({
        message: "unexpected property",
        location: `body.${name}`,
      });
      return unknown.length > 0 ? problem(422, "validation failed", unknown.map(error)) : answer;
    }]),
  );
}

Deno.test("only documented fields are sent, ids as strings", async (t) => {
  await using server = startScriptedServer(strictAnswers());
  using client = openScripted(server);
  for (const [name, call] of Object.entries(CALLS)) {
    await t.step(name, async () => void await call(client));
  }
  const keys = server.seen.filter(({ path }) => path === "/api/v1/preauthkey/expire");
  assertEquals(keys.map(({ body }) => body), [{ id: "5" }]);
});

/** A server that repeats all it was sent in its errors, as a proxy for debugging may. */
function echo(status: number): Answer {
  return ({ authorization, body }) => {
    const all = `${authorization} ${encodeURIComponent(authorization ?? "")} ${
      JSON.stringify(body)
    }`;
    if (status === 299) return new Response(authorization?.slice(7), { status: 200 });
    if (status === 599) return new Response(" x".repeat(140) + all, { status: 500 });
    const minted = { ...wireNode() as Record<string, unknown>, nodeKey: 7, name: all };
    return status === 200
      ? { users: 7, nodes: [minted], node: minted, preAuthKey: { id: "5", key: 7 }, policy: 7 }
      : status === 301
      ? new Response(null, { status, headers: { location: `https://x/?${authorization}` } })
      : problem(status, all, [{ message: all, location: all, value: all }]);
  };
}

Deno.test("canary: keys are in no error, log or measurement, whatever the server repeats", async (t) => {
  for (const features of [OLD_FEATURES, CURRENT_FEATURES]) {
    for (const status of [200, 299, 301, 400, 401, 404, 409, 422, 500, 503, 599]) {
      await t.step(`${features.keyUser} ${status}`, async () => {
        await using server = startScriptedServer({
          "GET /swagger/v1/openapiv2.json": () => apiDescription(features),
          "*": echo(status),
        });
        assertEquals(await traces(server), []);
      });
    }
  }
});

/** Where a canary shows after every call was made. */
async function traces(server: ScriptedServer): Promise<string[]> {
  const log = recordingLog();
  const told: string[] = [];
  using client = openScripted(server, {
    log,
    record: (attempt) => told.push(JSON.stringify(attempt)),
    deadlineMs: 20, // one attempt is enough, a pause would pass it
    attemptMs: 10_000,
  });
  for (const call of Object.values(CALLS)) {
    try {
      told.push(Deno.inspect(await call(client), { depth: 20 }));
    } catch (error) {
      told.push(describeError(error), Deno.inspect(error, { depth: 20 }), `${error}`);
      if (error instanceof HeadscaleError) told.push(error.remedy ?? "");
      log.error("It failed", { error });
    }
  }
  told.push(...log.lines(), Deno.inspect(client, { depth: 20, showHidden: true }));
  // Not even the half of one.
  const needles = [CANARY, MINTED_CANARY].map((canary) => canary.slice(0, 9));
  return told.filter((text) => needles.some((needle) => text.includes(needle)));
}

Deno.test("a key over http to another machine is warned about, not on the loopback", () => {
  for (const [url, warnings] of [["http://10.0.0.1", 1], ["http://127.0.0.1", 0]] as const) {
    const log = recordingLog();
    openHeadscale({ url, apiKey: new Secret(CANARY), log })[Symbol.dispose]();
    assertEquals(log.records.length, warnings);
  }
});

Deno.test("a key that cannot be one and a CA that is not there are told at once", () => {
  const url = "https://hs.example.com";
  const bad = new Secret("two\nlines-of-key");
  assertThrows(() => openHeadscale({ url, apiKey: bad }), ApiKeyError);
  const options = { url, apiKey: new Secret(CANARY), caFile: "/ca.pem", files: new MemoryFiles() };
  assertThrows(() => openHeadscale(options), FileError, "/ca.pem");
});

Deno.test("an id that is none is not sent anywhere", async () => {
  await using server = startScriptedServer({});
  using client = openScripted(server);
  for (const id of ["", "0", "-1", "7/routes", "nABC123CNTRL"]) {
    await assertRejects(() => client.deleteNode(id), HeadscaleError, "is a number");
  }
  assertEquals(server.seen, []);
});

Deno.test("a server whose database is away is not healthy", async () => {
  await using server = startScriptedServer({
    "GET /health": () => Response.json({ status: "fail" }, { status: 500 }),
  });
  using client = openScripted(server);
  assertEquals(await client.isHealthy(), false);
  assertEquals(server.seen.length, 1);
});

Deno.test("before 0.27 there is no version", async () => {
  await using server = startScriptedServer({ "*": () => new Response("404", { status: 404 }) });
  using client = openScripted(server);
  assertEquals(await client.version(), undefined);
});
