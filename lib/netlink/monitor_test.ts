import { assertEquals, assertRejects } from "@std/assert";
import { RTM_NEWLINK } from "./constants/rtnetlink.ts";
import { ERRNO, type ErrnoName } from "./errno.ts";
import { NetlinkError } from "./errors.ts";
import { encodeMessage } from "./message.ts";
import { Monitor, type MonitorEvent, type MonitorSource } from "./monitor.ts";
import { PayloadEncoder } from "./payload_encoder.ts";

function newLink(name: string): Uint8Array {
  const payload = new PayloadEncoder().putU32(0).putU32(2).putU32(0).putU32(0).string(3, name);
  const header = { type: RTM_NEWLINK, flags: 0, sequence: 0 };
  return encodeMessage(header, payload.finish());
}

/** A source that gives `script` in turn: datagrams and errors. Ends with the signal. */
function scripted(script: readonly (Uint8Array | ErrnoName)[], stop: AbortController) {
  const queue = [...script];
  const source: MonitorSource = {
    receive() {
      const next = queue.shift() ?? "EAGAIN";
      if (typeof next !== "string") return next;
      throw new NetlinkError({ operation: "receive", errno: ERRNO[next] });
    },
    readable() {
      if (queue.length === 0) stop.abort();
      return Promise.resolve();
    },
    wake() {},
    [Symbol.dispose]() {},
  };
  return new Monitor(source, stop.signal);
}

async function read(script: readonly (Uint8Array | ErrnoName)[]): Promise<string[]> {
  using monitor = scripted(script, new AbortController());
  const lines: string[] = [];
  for await (const event of monitor) lines.push(describe(event));
  return lines;
}

function describe(event: MonitorEvent): string {
  return event.subject === "link" ? `${event.change} ${event.link.name}` : event.subject;
}

Deno.test("Monitor waits when there is nothing and goes on when there is", async () => {
  assertEquals(await read([newLink("a"), "EAGAIN", newLink("b")]), ["new a", "new b"]);
});

Deno.test("Monitor empties the queue after an overflow and then asks for a resync", async () => {
  const script = [newLink("a"), "ENOBUFS", newLink("old"), newLink("old"), "EAGAIN"] as const;
  assertEquals(await read([...script, newLink("b")]), ["new a", "resync", "new b"]);
});

Deno.test("Monitor asks for a resync after what it cannot read", async () => {
  assertEquals(await read(["EMSGSIZE", newLink("a").subarray(0, 20)]), ["resync", "resync"]);
});

Deno.test("Monitor passes other errors on", async () => {
  await assertRejects(() => read(["EBADF"]), NetlinkError, "EBADF");
});
