import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { parseAddress } from "../ip/mod.ts";
import { JsonShapeError } from "../sys/json_view.ts";
import { Secret } from "../sys/secret.ts";
import { type ScriptedConnection, type ScriptedServer, scriptedServer } from "../sys/testing.ts";
import { LocalApiError, type LocalApiErrorKind } from "./errors.ts";
import { LocalApi } from "./local_api.ts";

/** A server that answers every call with `status` and `text`. */
function answering(status: number, text: string): ScriptedServer {
  return scriptedServer(({ send }) => send(`HTTP/1.1 ${status} X\r\n\r\n${text}`));
}

const STATUS = JSON.stringify({
  Version: "1.102.3",
  BackendState: "Running",
  Self: { ID: "1", PublicKey: "nodekey:1" },
});

Deno.test("requests are as tailscaled wants them: its host name, no Origin, no Referer", async () => {
  await using server = answering(200, STATUS);
  const api = new LocalApi({ socketPath: server.path });
  await api.status();
  await api.status({ peers: false });
  const [first = "", second = ""] = server.requests;
  assertStringIncludes(
    first,
    "GET /localapi/v0/status HTTP/1.1\r\nHost: local-tailscaled.sock\r\n",
  );
  assertStringIncludes(second, "GET /localapi/v0/status?peers=false ");
  assert(!/origin|referer/i.test(first));
});

Deno.test("a key travels in the body of start, and nowhere else", async () => {
  await using server = answering(204, "");
  const api = new LocalApi({ socketPath: server.path });
  await api.start({ authKey: new Secret("CANARY") });
  const [head, body] = server.requests[0]?.split("\r\n\r\n") ?? [];
  assertEquals(body, '{"AuthKey":"CANARY"}');
  assert(head?.startsWith("POST /localapi/v0/start ") && !head.includes("CANARY"));
});

Deno.test("a key that tailscaled repeats in its answer is not passed on", async () => {
  for (const text of ["bad key CANARY", '{"Error":"bad key CANARY"}', "authkey=CANARY"]) {
    await using server = answering(400, text);
    const api = new LocalApi({ socketPath: server.path });
    const attempt = () => api.start({ authKey: new Secret("CANARY") });
    const error = await assertRejects(attempt, LocalApiError);
    assertStringIncludes(error.message, "***");
    assert(!Deno.inspect(error).includes("CANARY"), Deno.inspect(error));
  }
});

const REFUSALS: readonly (readonly [number, string, LocalApiErrorKind, string])[] = [
  [400, '{"Error":"non-address bits set"}', "Refused", "answers 400: non-address bits set"],
  [403, "prefs write access denied\n", "Denied", "answers 403: prefs write access denied"],
  [404, "404 not found", "Unsupported", "answers 404: 404 not found"],
  [500, '{"error":"no\\nway\\u001b[31m"}', "Failed", "answers 500: no way [31m"],
  [503, "", "Failed", "answers 503"],
];

for (const [status, text, kind, message] of REFUSALS) {
  Deno.test(`an answer of ${status} is an error of kind ${kind}`, async () => {
    await using server = answering(status, text);
    const api = new LocalApi({ socketPath: server.path });
    const error = await assertRejects(() => api.prefs(), LocalApiError);
    assertEquals([error.kind, error.status], [kind, status]);
    assertStringIncludes(error.message, `Cannot read the settings of tailscaled: tailscaled `);
    assert(error.message.endsWith(message), error.message);
  });
}

Deno.test("no tailscaled: the error says so and how to start it", async () => {
  const api = new LocalApi({ socketPath: "/nonexistent/tailscaled.sock" });
  const error = await assertRejects(() => api.status(), LocalApiError);
  assertEquals(error.kind, "NotRunning");
  assertStringIncludes(error.message, "tailscaled is not running");
  assertStringIncludes(error.remedy ?? "", "systemctl start tailscaled");
});

const FAILURES: readonly (readonly [
  string,
  (connection: ScriptedConnection) => Promise<void>,
  LocalApiErrorKind,
])[] = [
  ["hangs", ({ closed }) => closed, "Deadline"],
  [
    "hangs within its answer",
    ({ send, closed }) => send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{").then(() => closed),
    "Deadline",
  ],
  ["breaks off", ({ send }) => send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"), "Broken"],
  ["is no tailscaled", ({ send }) => send("-ERR unknown command\r\n"), "BadAnswer"],
];

for (const [what, serve, kind] of FAILURES) {
  Deno.test(`a server that ${what} is an error of kind ${kind}`, async () => {
    await using server = scriptedServer(serve);
    const api = new LocalApi({ socketPath: server.path, timeoutMs: 300 });
    assertEquals((await assertRejects(() => api.status(), LocalApiError)).kind, kind);
  });
}

Deno.test("an answer of another shape is an error that names the key", async () => {
  await using server = answering(200, '{"Version":1}');
  const api = new LocalApi({ socketPath: server.path });
  await assertRejects(() => api.status(), JsonShapeError, "Version is 1 instead of a text");
});

Deno.test("the caller's signal ends a call with its own reason", async () => {
  await using server = scriptedServer(({ closed }) => closed);
  const api = new LocalApi({ socketPath: server.path });
  const stop = new AbortController();
  const call = assertRejects(() => api.status({ signal: stop.signal }), Error, "shutting down");
  stop.abort(new Error("shutting down"));
  await call;
});

Deno.test("an address nobody has is no error of whois", async () => {
  await using nobody = answering(404, "no match for IP:port");
  const address = parseAddress("100.64.0.9");
  assertEquals(await new LocalApi({ socketPath: nobody.path }).whoIs(address), undefined);
  const node = { ID: 3, StableID: "3", Name: "n3.", Tags: ["tag:k8s-node"] };
  const text = JSON.stringify({ Node: node, UserProfile: { LoginName: "k8s" } });
  await using somebody = answering(200, text);
  assertEquals(await new LocalApi({ socketPath: somebody.path }).whoIs(address), {
    nodeId: "3",
    nodeName: "n3.",
    tags: ["tag:k8s-node"],
    loginName: "k8s",
  });
  assertStringIncludes(somebody.requests[0] ?? "", "whois?addr=100.64.0.9 ");
});

Deno.test("a ping tells the way it took, or why there was no answer", async () => {
  const text = '{"NodeIP":"100.64.0.2","LatencySeconds":0.25,"Endpoint":"","DERPRegionCode":"t"}';
  await using server = answering(200, text);
  const api = new LocalApi({ socketPath: server.path });
  const result = await api.ping(parseAddress("10.244.2.5"), { type: "TSMP" });
  assertEquals([result.latencyMs, result.relay, result.endpoint], [250, "t", undefined]);
  assertStringIncludes(server.requests[0] ?? "", "POST /localapi/v0/ping?ip=10.244.2.5&type=TSMP ");
});
