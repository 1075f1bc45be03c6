import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { HttpError, openHttpPool } from "./http_pool.ts";

const never = new AbortController().signal;

/** A server for one test: its URL, and its end. */
function serve(handler: (request: Request) => Response): AsyncDisposable & { url: string } {
  const options = { hostname: "127.0.0.1", port: 0, onListen: () => {} };
  const server = Deno.serve(options, handler);
  const url = `http://127.0.0.1:${server.addr.port}/`;
  return { url, [Symbol.asyncDispose]: () => server.shutdown() };
}

Deno.test("a pool sends method, headers and body and reads the answer, whatever its status", async () => {
  await using server = serve((request) =>
    new Response(`${request.method} ${request.headers.get("x-key")} ä`, {
      status: 418,
      headers: { "retry-after": "7" },
    })
  );
  using pool = openHttpPool();
  const headers = { "x-key": "k" };
  const reply = await pool.send({ method: "PUT", url: server.url, headers, body: "b" }, never);
  assertEquals([reply.status, reply.text], [418, "PUT k ä"]);
  assertEquals([reply.header("Retry-After"), reply.header("x-none")], ["7", undefined]);
});

Deno.test("redirects are not followed", async () => {
  await using server = serve((request) => Response.redirect(`${request.url}elsewhere`));
  using pool = openHttpPool();
  const reply = await pool.send({ method: "GET", url: server.url }, never);
  assertEquals(reply.status, 302);
  assertStringIncludes(reply.header("location") ?? "", "elsewhere");
});

Deno.test("an answer larger than the limit is not read to its end", async () => {
  await using server = serve(() => new Response("x".repeat(10_000)));
  using pool = openHttpPool({ maxBodyBytes: 1000 });
  const error = await assertRejects(
    () => pool.send({ method: "GET", url: server.url }, never),
    HttpError,
    "larger than 1000 bytes",
  );
  assertEquals(error.kind, "TooLarge");
});

Deno.test("nobody there, a name that is none and a broken connection are told apart", async () => {
  using pool = openHttpPool();
  const ask = (url: string) =>
    assertRejects(() => pool.send({ method: "GET", url }, never), HttpError);
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const breaking = (async () => {
    const connection = await listener.accept();
    await connection.read(new Uint8Array(1000));
    connection.close();
  })();
  const broken = await ask(`http://127.0.0.1:${listener.addr.port}/x`);
  await breaking;
  assertEquals([broken.kind, broken.reason], [
    "Broken",
    "connection closed before message completed",
  ]);
  const nobody = await ask("http://127.0.0.1:1/x");
  assertEquals([nobody.kind, nobody.subject], ["NotConnected", "http://127.0.0.1:1/x"]);
  assertStringIncludes(nobody.reason, "tcp connect error: Connection refused");
});

Deno.test("a signal ends a request with its reason", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  using pool = openHttpPool();
  const stop = new AbortController();
  const url = `http://127.0.0.1:${listener.addr.port}/`;
  const asked = pool.send({ method: "GET", url }, stop.signal);
  (await listener.accept()).close();
  stop.abort(new Error("enough"));
  await assertRejects(() => asked, Error, "enough");
});
