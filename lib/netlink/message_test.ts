import { assertEquals, assertThrows } from "@std/assert";
import { NLM_F_ACK_TLVS, NLM_F_CAPPED, NLMSG_DONE, NLMSG_ERROR } from "./constants/netlink.ts";
import { MalformedMessageError } from "./errors.ts";
import { acknowledge, joinDatagrams } from "./testing.ts";
import {
  decodeAcknowledgement,
  decodeDone,
  decodeMessages,
  encodeMessage,
  type Message,
} from "./message.ts";
import { PayloadEncoder } from "./payload_encoder.ts";

function only(datagram: Uint8Array): Message {
  const [message] = decodeMessages(datagram);
  if (message === undefined) throw new Error("no message");
  return message;
}

const header = { type: 18, flags: 1, sequence: 7, portId: 4711 };

Deno.test("a message goes to bytes and back", () => {
  const bytes = encodeMessage(header, Uint8Array.of(1, 2, 3));
  assertEquals(bytes.length, 20);
  const message = only(bytes);
  const { type, flags, sequence, portId, payloadLength } = message;
  assertEquals({ type, flags, sequence, portId, payloadLength }, { ...header, payloadLength: 3 });
});

Deno.test("several messages share a datagram", () => {
  const parts = [1, 2, 3].map((sequence) =>
    encodeMessage({ ...header, sequence }, new Uint8Array(5))
  );
  const sequences = decodeMessages(joinDatagrams(parts)).map(({ sequence }) => sequence);
  assertEquals(sequences, [1, 2, 3]);
});

Deno.test("lengths that do not fit the datagram are refused", () => {
  const good = encodeMessage(header, new Uint8Array(8));
  const withLength = (length: number) => {
    const bytes = good.slice();
    new DataView(bytes.buffer).setUint32(0, length, true);
    return bytes;
  };
  for (const length of [0, 15, 25, 0xffffffff]) {
    assertThrows(
      () => decodeMessages(withLength(length)),
      MalformedMessageError,
      `message claims ${length} bytes where 24 are left`,
    );
  }
  assertThrows(
    () => decodeMessages(good.subarray(0, 10)),
    MalformedMessageError,
    "10 bytes are left",
  );
});

Deno.test("a message shorter than its fixed header is refused", () => {
  const message = only(encodeMessage(header, new Uint8Array(8)));
  assertThrows(() => message.attributes(16), MalformedMessageError, "its header needs 16");
});

Deno.test("an acknowledgement carries the kernel's words and the offset", () => {
  const request = only(encodeMessage(header, new Uint8Array(8)));
  assertEquals(decodeAcknowledgement(only(acknowledge(request))), { errno: 0 });
  const refused = acknowledge(request, { error: "EINVAL", kernelMessage: "bad", offset: 24 });
  assertEquals(decodeAcknowledgement(only(refused)), {
    errno: 22,
    kernelMessage: "bad",
    offset: 24,
  });
});

Deno.test("an acknowledgement may repeat the whole request before the kernel's words", () => {
  const payload = new PayloadEncoder().putU32(-17)
    .putU32(24).putU16(18).putU16(1).putU32(7).putU32(4711).putU32(1).putU32(2)
    .string(1, "File there").finish();
  const flags = NLM_F_ACK_TLVS;
  const whole = only(encodeMessage({ ...header, type: NLMSG_ERROR, flags }, payload));
  assertEquals(decodeAcknowledgement(whole), { errno: 17, kernelMessage: "File there" });
  const long = payload.slice();
  new DataView(long.buffer).setUint32(4, 4000, true);
  assertThrows(
    () => decodeAcknowledgement(only(encodeMessage({ ...header, type: NLMSG_ERROR, flags }, long))),
    MalformedMessageError,
  );
  const capped = { ...header, type: NLMSG_ERROR, flags: flags | NLM_F_CAPPED };
  const words = new PayloadEncoder().putBytes(long.subarray(0, 20)).string(1, "x").finish();
  assertEquals(decodeAcknowledgement(only(encodeMessage(capped, words))).kernelMessage, "x");
});

Deno.test("the end of a dump carries an error number, or nothing", () => {
  const done = (payload: Uint8Array) =>
    decodeDone(only(encodeMessage({ ...header, type: NLMSG_DONE }, payload)));
  assertEquals(done(new Uint8Array(0)), { errno: 0 });
  assertEquals(done(new PayloadEncoder().putU32(0).finish()), { errno: 0 });
  assertEquals(done(new PayloadEncoder().putU32(-2).finish()), { errno: 2 });
});

Deno.test("a copy of a message outlives the receive buffer", () => {
  const datagram = joinDatagrams([
    encodeMessage(header, Uint8Array.of(9, 9)),
    encodeMessage({ ...header, sequence: 8 }, Uint8Array.of(1, 2, 3, 4)),
  ]);
  const copy = decodeMessages(datagram)[1]?.copy();
  datagram.fill(0);
  assertEquals([copy?.sequence, copy?.view.getUint8(copy.start + 2)], [8, 3]);
});
