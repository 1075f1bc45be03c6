import { assertEquals, assertThrows } from "@std/assert";
import { NetlinkConnection } from "./connection.ts";
import { NLM_F_ACK, NLM_F_DUMP } from "./constants/netlink.ts";
import { DumpInterruptedError, MalformedMessageError, NetlinkError } from "./errors.ts";
import { encodeMessage, type Message } from "./message.ts";
import type { Request } from "./request.ts";
import { acknowledge, FAKE_PORT_ID, fakeSocket, multipart, reply } from "./testing.ts";

const ITEM = 24;

function request(subject: string, flags = 0): Request {
  return {
    operation: "do",
    subject: () => subject,
    type: ITEM,
    flags,
    payload: Uint8Array.of(1, 0, 0, 0),
  };
}

/** Items of a list: one byte each. */
function items(...values: number[]): { type: number; payload: Uint8Array }[] {
  return values.map((value) => ({ type: ITEM, payload: Uint8Array.of(value, 0, 0, 0) }));
}

function first(message: Message): number {
  return message.view.getUint8(message.start);
}

Deno.test("NetlinkConnection sends a batch in one datagram and asks for one acknowledgement", () => {
  const flags: number[] = [];
  let datagrams = 0;
  const socket = fakeSocket((message) => {
    flags.push(message.flags & NLM_F_ACK);
    return (message.flags & NLM_F_ACK) === 0 ? [] : [acknowledge(message)];
  });
  const counting = {
    ...socket,
    send: (bytes: Uint8Array<ArrayBuffer>) => (datagrams++, socket.send(bytes)),
  };
  new NetlinkConnection(counting).batch([request("a"), request("b"), request("c")]);
  assertEquals([datagrams, flags], [1, [0, 0, NLM_F_ACK]]);
});

Deno.test("NetlinkConnection reports the first failure of a batch with its own subject", () => {
  let count = 0;
  const connection = new NetlinkConnection(fakeSocket((message) => {
    count++;
    if (count === 2) return [acknowledge(message, { error: "EEXIST", kernelMessage: "there" })];
    if (count === 3) return [acknowledge(message, { error: "ENODEV" })];
    return (message.flags & NLM_F_ACK) === 0 ? [] : [acknowledge(message)];
  }));
  assertThrows(
    () => connection.batch(["a", "b", "c", "d"].map((subject) => request(subject))),
    NetlinkError,
    "Cannot do b: there: File exists (EEXIST)",
  );
  assertEquals(count, 4);
});

Deno.test("NetlinkConnection reads a list to its end, over several datagrams", () => {
  const connection = new NetlinkConnection(
    fakeSocket((message) => multipart(message, items(1, 2, 3, 4, 5))),
  );
  assertEquals(connection.dump(request("list"), first), [1, 2, 3, 4, 5]);
  assertEquals(connection.dump(request("list"), (m) => first(m) % 2 ? first(m) : undefined), [
    1,
    3,
    5,
  ]);
});

Deno.test("NetlinkConnection reads an interrupted list again", () => {
  let attempts = 0;
  const connection = new NetlinkConnection(fakeSocket((message) => {
    attempts++;
    return multipart(message, items(attempts), { interrupted: attempts < 3 });
  }));
  assertEquals(connection.dump(request("list"), first), [3]);
});

Deno.test("NetlinkConnection gives up on a list that never holds still", () => {
  let attempts = 0;
  const connection = new NetlinkConnection(fakeSocket((message) => {
    attempts++;
    return multipart(message, items(1), { interrupted: true });
  }));
  assertThrows(() => connection.dump(request("list"), first), DumpInterruptedError, "5 attempts");
  assertEquals(attempts, 5);
});

Deno.test("NetlinkConnection reports an error at the end of a list, and one instead of it", () => {
  const atEnd = new NetlinkConnection(
    fakeSocket((message) => multipart(message, items(1), { error: "ENOENT" })),
  );
  assertThrows(() => atEnd.dump(request("list"), first), NetlinkError, "ENOENT");
  const instead = new NetlinkConnection(
    fakeSocket((message) => [acknowledge(message, { error: "EPERM" })]),
  );
  assertThrows(() => instead.dump(request("list"), first), NetlinkError, "EPERM");
});

Deno.test("NetlinkConnection reads the rest of a list after an item it cannot decode", () => {
  const connection = new NetlinkConnection(fakeSocket((message) => {
    if ((message.flags & NLM_F_DUMP) === 0) return [acknowledge(message)];
    return multipart(message, items(1, 2, 3, 4));
  }));
  assertThrows(
    () =>
      connection.dump(request("list"), () => {
        throw new MalformedMessageError("item");
      }),
    MalformedMessageError,
  );
  connection.execute(request("next"));
});

Deno.test("NetlinkConnection skips what answers somebody else or an earlier request", () => {
  const connection = new NetlinkConnection(fakeSocket((message) => {
    const stale = { type: 2, flags: 0, sequence: message.sequence - 1, portId: FAKE_PORT_ID };
    const foreign = { ...stale, sequence: message.sequence, portId: 1 };
    const refusal = new Uint8Array(20).fill(0xff);
    return [
      encodeMessage(stale, refusal),
      encodeMessage(foreign, refusal),
      reply(message, { type: ITEM, payload: Uint8Array.of(42) }),
      acknowledge(message),
    ];
  }));
  assertEquals(first(connection.query(request("one"))), 42);
});

Deno.test("NetlinkConnection fails at once when the kernel does not answer", () => {
  const connection = new NetlinkConnection(fakeSocket(() => []));
  assertThrows(
    () => connection.execute(request("one")),
    NetlinkError,
    "Cannot receive netlink message: Resource temporarily unavailable (EAGAIN)",
  );
});

Deno.test("NetlinkConnection ends a transaction that is refused as a whole", () => {
  let sent = 0;
  const connection = new NetlinkConnection(fakeSocket((message) => {
    sent++;
    return sent === 1 ? [acknowledge(message, { error: "EPERM" })] : [];
  }));
  const frame = { ...request("frame"), operation: "commit" };
  assertThrows(
    () => connection.transact([frame, request("change"), frame]),
    NetlinkError,
    "Cannot commit frame: Operation not permitted (EPERM)",
  );
});
