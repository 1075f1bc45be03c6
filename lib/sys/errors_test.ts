import { assert, assertEquals, assertInstanceOf, assertThrows } from "@std/assert";
import { causeChain, describeError, HeadcniError } from "./errors.ts";

Deno.test("HeadcniError makes its message from its parts", () => {
  const cause = new Error("EACCES");
  const error = new HeadcniError({
    operation: "read file",
    subject: "/etc/x",
    reason: "permission denied",
    remedy: "Run as root",
    cause,
  });
  assertInstanceOf(error, Error);
  assertEquals(error.message, "Cannot read file /etc/x: permission denied");
  assertEquals(error.remedy, "Run as root");
  assertEquals(error.cause, cause);
  assertEquals(`${error}`, "HeadcniError: Cannot read file /etc/x: permission denied");
});

Deno.test("HeadcniError without subject or cause has neither", () => {
  const error = new HeadcniError({ operation: "reach Headscale", reason: "refused" });
  assertEquals(error.message, "Cannot reach Headscale: refused");
  assertEquals(error.subject, undefined);
  assert(!("cause" in error));
});

Deno.test("causeChain() lists messages outermost first", () => {
  const error = new Error("a", { cause: new Error("b", { cause: "c" }) });
  assertEquals(causeChain(error), ["a", "b", "c"]);
  assertEquals(describeError(error), "a: b: c");
});

Deno.test("causeChain() accepts whatever was thrown", () => {
  const table: [thrown: unknown, chain: string[]][] = [
    [undefined, []],
    [null, []],
    ["text", ["text"]],
    [7, ["7"]],
    [Symbol("s"), ["Symbol(s)"]],
    [Object.create(null), ["an object that is no error was thrown"]],
    [new TypeError(), ["TypeError"]],
  ];
  for (const [thrown, chain] of table) assertEquals(causeChain(thrown), chain);
});

Deno.test("causeChain() leaves out a cause that was already quoted", () => {
  const cause = new Error("disk full");
  assertEquals(causeChain(new Error("Cannot write: disk full", { cause })), [
    "Cannot write: disk full",
  ]);
});

Deno.test("causeChain() ends for an error that causes itself", () => {
  const error = new Error("again");
  error.cause = error;
  assertEquals(causeChain(error), ["again"]);

  const ping = new Error("ping");
  ping.cause = new Error("pong", { cause: ping });
  assertEquals(causeChain(ping).length, 10);

  const group = new AggregateError([], "group");
  group.errors.push(group);
  assert(describeError(group).startsWith("group (group (group"));
});

Deno.test("causeChain() tells what an AggregateError collected", () => {
  const errors = [new Error("a", { cause: new Error("why") }), "b"];
  assertEquals(describeError(new AggregateError(errors, "Cannot undo")), "Cannot undo (a: why; b)");
  const many = Array.from({ length: 12 }, (_, i) => new Error(`e${i}`));
  assert(describeError(new AggregateError(many, "m")).endsWith("e9; 2 more)"));
});

Deno.test("causeChain() tells the original error before a failed clean-up", () => {
  function work() {
    using _cleanup = {
      [Symbol.dispose]: () => {
        throw new Error("device busy");
      },
    };
    throw new Error("no address left");
  }
  assertEquals(
    describeError(assertThrows(work)),
    "no address left (cleaning up failed too: device busy)",
  );
});
