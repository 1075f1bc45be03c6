import { assert, assertEquals, assertRejects } from "@std/assert";
import type { HttpRequest } from "./http_message.ts";
import { SocketError, type SocketErrorKind } from "./socket_error.ts";
import { type ScriptedConnection, scriptedServer, temporaryDirectory } from "./testing.ts";
import { requestUnix } from "./unix_http.ts";

const GET: HttpRequest = { method: "GET", path: "/x?y=1", host: "local" };
const MAX_BYTES = 100_000;

/** Status and body of the answer a scripted server gives. */
async function exchange(
  serve: (connection: ScriptedConnection) => Promise<void>,
  request = GET,
): Promise<{ status: number; text: string; requests: readonly string[] }> {
  await using server = scriptedServer(serve);
  using response = await requestUnix(server.path, request);
  const text = await response.text(MAX_BYTES);
  return { status: response.status, text, requests: server.requests };
}

/** The kind of failure a scripted server leads to. */
async function failure(
  serve: (connection: ScriptedConnection) => Promise<void>,
): Promise<SocketErrorKind> {
  return (await assertRejects(() => exchange(serve), SocketError)).kind;
}

const OK = "HTTP/1.1 200 OK\r\n";

Deno.test("an answer with a length is read, and the request is plain HTTP/1.1", async () => {
  const answer = await exchange(({ send }) => send(`${OK}Content-Length: 5\r\n\r\nhello, more`));
  assertEquals([answer.status, answer.text], [200, "hello"]);
  assertEquals(answer.requests, [
    "GET /x?y=1 HTTP/1.1\r\nHost: local\r\nConnection: close\r\n\r\n",
  ]);
});

Deno.test("a body is sent with its length in bytes", async () => {
  const request: HttpRequest = { ...GET, method: "POST", body: '{"ü":1}' };
  const { requests } = await exchange(({ send }) => send(`${OK}\r\n`), request);
  assert(requests[0]?.endsWith('Content-Length: 8\r\n\r\n{"ü":1}'), requests[0]);
});

for (const size of [1, 2, 3, 7]) {
  Deno.test(`an answer in pieces of ${size} bytes is read whole`, async () => {
    const chunks = "6\r\nhello \r\n05;x=y\r\nwörl\r\n1\r\nd\r\n0\r\n\r\n";
    const head = `HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\nA: b\r\n\r\n`;
    const answer = await exchange(({ send }) => send(head + chunks, size));
    assertEquals([answer.status, answer.text], [201, "hello wörld"]);
  });
}

Deno.test("an answer without a length ends with the connection", async () => {
  assertEquals((await exchange(({ send }) => send(`${OK}\r\nall of it`))).text, "all of it");
});

Deno.test("answers without a body do not wait for one", async () => {
  const answer = await exchange(async ({ send, closed }) => {
    await send("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n");
    await closed; // the server would keep the connection
  });
  assertEquals([answer.status, answer.text], [204, ""]);
});

Deno.test("an answer that comes before the request was read is read", async () => {
  const body = "x".repeat(3_000_000);
  const request: HttpRequest = { ...GET, method: "POST", body };
  const { status } = await exchange(
    ({ send }) => send("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n"),
    request,
  );
  assertEquals(status, 413);
});

const HOSTILE: Readonly<Record<string, readonly [SocketErrorKind, string]>> = {
  "closes at once": ["Broken", ""],
  "closes within the head": ["Broken", "HTTP/1.1 200 OK\r\nContent-Le"],
  "closes within the body": ["Broken", `${OK}Content-Length: 10\r\n\r\nhalf`],
  "closes within a chunk": ["Broken", `${OK}Transfer-Encoding: chunked\r\n\r\nff\r\nhalf`],
  "closes before the last chunk": ["Broken", `${OK}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n`],
  "speaks another protocol": ["Malformed", "SSH-2.0-OpenSSH_9.9\r\n"],
  "sends bytes without lines": ["Malformed", "\0\xff".repeat(40_000)],
  "has a header without a name": ["Malformed", `${OK}: value\r\n\r\n`],
  "folds a header": ["Malformed", `${OK}A: b\r\n c\r\n\r\n`],
  "has headers without end": ["Malformed", OK + "A: b\r\n".repeat(1000)],
  "has a line without end": ["Malformed", `${OK}A: ${"b".repeat(50_000)}`],
  "has two lengths": ["Malformed", `${OK}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`],
  "has a negative length": ["Malformed", `${OK}Content-Length: -1\r\n\r\n`],
  "compresses": ["Malformed", `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n`],
  "has a chunk of no length": ["Malformed", `${OK}Transfer-Encoding: chunked\r\n\r\nxyz\r\n`],
  "has a chunk that is too long": [
    "Malformed",
    `${OK}Transfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n`,
  ],
  "never comes to the point": ["Malformed", "HTTP/1.1 100 Continue\r\n\r\n".repeat(20)],
  "says too much": ["TooLarge", `${OK}\r\n${"x".repeat(MAX_BYTES + 1)}`],
  "promises too much": ["TooLarge", `${OK}Content-Length: 999999999\r\n\r\n${"x".repeat(200_000)}`],
};

for (const [what, [kind, text]] of Object.entries(HOSTILE)) {
  Deno.test(`a server that ${what} is an error`, async () => {
    assertEquals(await failure(({ send }) => send(text)), kind);
  });
}

Deno.test("a server that resets the connection is an error", async () => {
  using root = temporaryDirectory();
  const path = `${root.path}/s`;
  using listener = Deno.listen({ transport: "unix", path });
  const accepted = listener.accept().then(async (connection) => {
    // Closed with the request unread: the kernel resets.
    await connection.write(new TextEncoder().encode("HTTP/1.1 200 OK\r\n"));
    connection.close();
  });
  const error = await assertRejects(() => requestUnix(path, GET), SocketError);
  await accepted;
  assertEquals(error.kind, "Broken");
});

Deno.test("a signal ends the wait for an answer and for a body", async () => {
  await using server = scriptedServer(async ({ request, send, closed }) => {
    if (request.includes("/body")) await send(`${OK}Content-Length: 10\r\n\r\nhalf`);
    await closed;
  });
  const stop = new AbortController();
  const { signal } = stop;
  const waiting = requestUnix(server.path, GET, { signal });
  const body = await requestUnix(server.path, { ...GET, path: "/body" }, { signal });
  const ends = [waiting, body.text(MAX_BYTES)].map((work) =>
    assertRejects(() => work, Error, "enough")
  );
  stop.abort(new Error("enough"));
  await Promise.all(ends);
  await assertRejects(() => requestUnix(server.path, GET, { signal }), Error, "enough");
});

Deno.test("a body is handed out as it comes", async () => {
  const { promise: go, resolve } = Promise.withResolvers<void>();
  await using server = scriptedServer(async ({ send, closed }) => {
    await send(`${OK}Transfer-Encoding: chunked\r\n\r\n4\r\none\n\r\n`);
    await go;
    await send("4\r\ntwo\n\r\n");
    await closed;
  });
  using response = await requestUnix(server.path, GET);
  const seen: string[] = [];
  for await (const bytes of response.body) {
    seen.push(new TextDecoder().decode(bytes));
    resolve();
    if (seen.length === 2) break;
  }
  assertEquals(seen, ["one\n", "two\n"]);
});

Deno.test("what keeps one from connecting is told apart", async () => {
  using root = temporaryDirectory();
  const kindOf = async (path: string) =>
    (await assertRejects(() => requestUnix(path, GET), SocketError)).kind;
  const stale = `${root.path}/stale`;
  Deno.listen({ transport: "unix", path: stale }).close();
  if (!exists(stale)) Deno.writeTextFileSync(stale, ""); // Deno removed it: a file does as well
  assertEquals(await kindOf(`${root.path}/none`), "Missing");
  assertEquals(await kindOf(stale), "Refused");
  assertEquals(await kindOf(`${root.path}/${"x".repeat(200)}`), "Unusable");
});

function exists(path: string): boolean {
  try {
    return Deno.lstatSync(path) !== undefined;
  } catch {
    return false;
  }
}

Deno.test("the environment does not lead a request elsewhere", async () => {
  await using server = scriptedServer(({ send }) => send(`${OK}\r\nhere`));
  const before = Deno.env.get("NO_PROXY");
  Deno.env.set("NO_PROXY", "*");
  try {
    using response = await requestUnix(server.path, { ...GET, host: "local-tailscaled.sock" });
    assertEquals(await response.text(10), "here");
  } finally {
    if (before === undefined) Deno.env.delete("NO_PROXY");
    else Deno.env.set("NO_PROXY", before);
  }
});
