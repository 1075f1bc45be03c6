import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { FakeClock } from "../sys/testing.ts";
import { HeadscaleError } from "./errors.ts";
import type { Attempt } from "./requests.ts";
import { CANARY, grpcError, openScripted, problem, startScriptedServer } from "./testing.ts";

/** A clock that does not wait between attempts, and remembers how long it should have. */
function impatientClock(): { clock: FakeClock; pauses: number[] } {
  const pauses: number[] = [];
  const clock = new FakeClock();
  clock.sleep = (ms, { signal } = {}) => {
    // Deadlines of requests come with a signal of their own and stay far away.
    if (signal !== undefined) return new Promise(() => {});
    pauses.push(ms);
    return Promise.resolve();
  };
  return { clock, pauses };
}

/** Answers with each of `answers` in turn, then with the last. */
function inTurn(...answers: readonly (() => unknown)[]): () => unknown {
  let next = 0;
  return () => (answers[Math.min(next++, answers.length - 1)] ?? (() => undefined))();
}

const users = () => ({ users: [{ id: "1", name: "k8s" }] });
const broken = () => grpcError(500, { code: 2, message: "database is locked" });

Deno.test("a request that fails once is repeated after a random wait", async () => {
  await using server = startScriptedServer({ "GET /api/v1/user": inTurn(broken, users) });
  const { clock, pauses } = impatientClock();
  using client = openScripted(server, { clock });
  assertEquals(await client.users(), [{ id: "1", name: "k8s" }]);
  assertEquals(server.seen.length, 2);
  assertEquals(pauses, [150]);
});

Deno.test("a server that keeps failing is left alone after four attempts", async () => {
  await using server = startScriptedServer({ "*": broken });
  const { clock, pauses } = impatientClock();
  using client = openScripted(server, { clock });
  const error = await assertRejects(
    () => client.users(),
    HeadscaleError,
    "Cannot list users of Headscale: Headscale answered status 500, database is locked",
  );
  assertEquals([error.kind, error.status], ["Failed", 500]);
  assertEquals([server.seen.length, pauses], [4, [150, 300, 600]]);
});

Deno.test("what a proxy asks for in Retry-After is respected", async () => {
  const busy = () => new Response("slow down", { status: 429, headers: { "retry-after": "3" } });
  await using server = startScriptedServer({ "*": inTurn(busy, users) });
  const { clock, pauses } = impatientClock();
  using client = openScripted(server, { clock });
  await client.users();
  assertEquals(pauses, [3000]);
});

Deno.test("a wait that would pass the deadline is not begun", async () => {
  const busy = () => new Response("", { status: 503, headers: { "retry-after": "60" } });
  await using server = startScriptedServer({ "*": busy });
  using client = openScripted(server);
  await assertRejects(() => client.users(), HeadscaleError, "status 503");
  assertEquals(server.seen.length, 1);
});

Deno.test("what may have been carried out and is not idempotent is not repeated", async () => {
  await using server = startScriptedServer({
    "GET /api/v1/user": () => ({ users: [] }),
    "POST /api/v1/user": broken,
  });
  using client = openScripted(server);
  await assertRejects(() => client.ensureUser("k8s"), HeadscaleError, "database is locked");
  assertEquals(server.seen.filter(({ method }) => method === "POST").length, 1);
});

Deno.test("an attempt that takes too long ends, and the next one gets its answer", async () => {
  const held = Promise.withResolvers<unknown>();
  await using server = startScriptedServer({
    "GET /api/v1/user": inTurn(() => held.promise, users),
  });
  using client = openScripted(server, { attemptMs: 300 });
  assertEquals((await client.users()).length, 1);
  held.resolve({});
});

Deno.test("a server that never answers is a deadline, not a wait for ever", async () => {
  const held = Promise.withResolvers<unknown>();
  await using server = startScriptedServer({ "*": () => held.promise });
  using client = openScripted(server, { attemptMs: 50, deadlineMs: 60 });
  const error = await assertRejects(() => client.users(), HeadscaleError, "did not answer within");
  assertEquals(error.kind, "Deadline");
  held.resolve({});
});

Deno.test("a connection that breaks is unreachable, and is tried again", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  let connections = 0;
  const serving = (async () => {
    for await (const connection of listener) {
      connections++;
      await connection.read(new Uint8Array(1000));
      connection.close();
      if (connections === 4) return;
    }
  })();
  await using server = startScriptedServer({});
  const { clock } = impatientClock();
  using client = openScripted(server, { clock, url: `http://127.0.0.1:${listener.addr.port}` });
  const error = await assertRejects(() => client.users(), HeadscaleError, "cannot be reached");
  assertEquals([error.kind, error.unsent], ["Unreachable", false]);
  await serving;
  assertEquals(connections, 4);
});

Deno.test("nobody listening: even what is not idempotent is tried again, nothing was sent", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const url = `http://127.0.0.1:${listener.addr.port}`;
  listener.close();
  await using server = startScriptedServer({});
  const { clock, pauses } = impatientClock();
  using client = openScripted(server, { clock, url });
  const error = await assertRejects(() => client.isHealthy(), HeadscaleError, "Connection refused");
  assertEquals([error.kind, error.unsent, pauses.length], ["Unreachable", true, 3]);
  assertStringIncludes(error.remedy ?? "", "curl");
});

Deno.test("both error formats, plain text and nonsense mean the same", async (t) => {
  const cases: readonly (readonly [string, Response, string, string])[] = [
    ["grpc 404", grpcError(404, { code: 5, message: "node 9 is gone" }), "NotFound", "node 9"],
    ["grpc 500", grpcError(500, { code: 2, message: "record not found" }), "NotFound", "record"],
    ["grpc 400", grpcError(400, { code: 3, message: "bad prefix" }), "Refused", "bad prefix"],
    [
      "unique",
      grpcError(500, { code: 2, message: "UNIQUE constraint failed" }),
      "Exists",
      "UNIQUE",
    ],
    ["problem 404", problem(404, "no node 9"), "NotFound", "no node 9"],
    ["problem 409", problem(409, "taken"), "Exists", "taken"],
    [
      "problem 422",
      problem(422, "validation failed", [{
        message: "unexpected property",
        location: "body.extra",
        value: { secret: "x" },
      }]),
      "Refused",
      "validation failed: body.extra: unexpected property",
    ],
    ["plain 401", new Response("Unauthorized", { status: 401 }), "Unauthorized", "API key"],
    ["plain 500", new Response("Unauthorized", { status: 500 }), "Unauthorized", "API key"],
    [
      "proxy page",
      new Response("<html>", { status: 403, headers: { "content-type": "text/html" } }),
      "Unauthorized",
      "an HTML page",
    ],
    [
      "redirect",
      new Response(null, { status: 301, headers: { location: "https://else.where/?x" } }),
      "BadAnswer",
      "redirects to https://else.where, which",
    ],
    ["garbage", new Response("\u0000<garbage"), "BadAnswer", "it is no JSON"],
    ["a list", new Response("[]"), "BadAnswer", "a list instead of an object"],
    ["no users", Response.json({ users: 7 }), "BadAnswer", "users is 7 instead of a list"],
    ["no id", Response.json({ users: [{ name: "a" }] }), "BadAnswer", "users[0].id is absent"],
    [
      "id as number",
      Response.json({ users: [{ id: 1 }] }),
      "BadAnswer",
      "users[0].id is 1 instead",
    ],
  ];
  for (const [name, response, kind, text] of cases) {
    await t.step(name, async () => {
      await using server = startScriptedServer({ "*": () => response });
      using client = openScripted(server);
      const error = await assertRejects(() => client.users(), HeadscaleError, text);
      assertEquals([error.kind, server.seen.length], [kind, 1]);
    });
  }
});

Deno.test("an answer may be empty where nothing is expected", async () => {
  await using server = startScriptedServer({ "*": () => new Response("") });
  using client = openScripted(server);
  await client.expireNode("7");
});

Deno.test("a signal ends a request and a wait at once", async () => {
  const held = Promise.withResolvers<unknown>();
  await using server = startScriptedServer({ "*": () => held.promise });
  using client = openScripted(server);
  const stop = new AbortController();
  const asked = client.users({ signal: stop.signal });
  stop.abort(new Error("shutting down"));
  await assertRejects(() => asked, Error, "shutting down");
  held.resolve({});
});

Deno.test("every attempt is measured by what it was and how it ended", async () => {
  await using server = startScriptedServer({ "GET /api/v1/user": inTurn(broken, users) });
  const attempts: Attempt[] = [];
  const { clock } = impatientClock();
  using client = openScripted(server, { clock, record: (attempt) => attempts.push(attempt) });
  await client.users();
  assertEquals(attempts.map(({ operation, outcome }) => [operation, outcome]), [
    ["list users of Headscale", "Failed"],
    ["list users of Headscale", "ok"],
  ]);
  assert(attempts.every(({ seconds }) => seconds >= 0));
});

Deno.test("connections are kept, and the key goes only where it is needed", async () => {
  await using server = startScriptedServer({
    "GET /api/v1/user": users,
    "GET /health": () => ({ status: "pass" }),
    "GET /version": () => ({ version: "v0.29.2" }),
  });
  using client = openScripted(server);
  for (let i = 0; i < 5; i++) await client.users();
  assertEquals(await client.isHealthy(), true);
  assertEquals(await client.version(), "v0.29.2");
  assertEquals(server.connections, 1);
  assertEquals(server.seen.map(({ authorization }) => authorization === `Bearer ${CANARY}`), [
    ...[true, true, true, true, true],
    ...[false, false],
  ]);
});
