import { assertEquals, assertThrows } from "@std/assert";
import { parseAddress } from "../ip/mod.ts";
import { AttributeDecoder } from "./attribute_decoder.ts";
import { InvalidRequestError } from "./errors.ts";
import { PayloadEncoder } from "./payload_encoder.ts";

Deno.test("PayloadEncoder pads attributes with zeros and counts them in no length", () => {
  const payload = new PayloadEncoder().u8(1, 0xff).bytes(2, Uint8Array.of(1, 2, 3)).finish();
  assertEquals([...payload], [5, 0, 1, 0, 0xff, 0, 0, 0, 7, 0, 2, 0, 1, 2, 3, 0]);
});

Deno.test("PayloadEncoder writes netfilter's integers in network order", () => {
  const payload = new PayloadEncoder().be16(1, 0x1234).be32(2, 0x12345678).finish();
  assertEquals([...payload], [6, 0, 1, 0, 0x12, 0x34, 0, 0, 8, 0, 2, 0, 0x12, 0x34, 0x56, 0x78]);
});

Deno.test("PayloadEncoder nests, with and without the flag", () => {
  const nested = (
    plain: boolean,
  ) => [...new PayloadEncoder().nested(1, (inner) => inner.u8(2, 3), { plain }).finish()];
  assertEquals(nested(false), [12, 0, 1, 0x80, 5, 0, 2, 0, 3, 0, 0, 0]);
  assertEquals(nested(true), [12, 0, 1, 0, 5, 0, 2, 0, 3, 0, 0, 0]);
});

Deno.test("PayloadEncoder keeps every value when it grows in the middle of one", () => {
  const address = parseAddress("fd00::2");
  for (let lead = 200; lead < 270; lead++) {
    const encoder = new PayloadEncoder().bytes(1, new Uint8Array(lead).fill(0xee));
    encoder.u8(2, 2).u16(3, 3).u32(4, 4).u64(5, 5n).be16(6, 6).be32(7, 7).be64(8, 8n)
      .string(9, "nine").address(10, address)
      .nested(11, (inner) => inner.bytes(12, new Uint8Array(300).fill(12)).u32(13, 13));
    const decoder = AttributeDecoder.of(encoder.finish());
    const read: Record<number, () => unknown> = {
      1: () => decoder.bytes().every((byte) => byte === 0xee),
      2: () => decoder.u8(),
      3: () => decoder.u16(),
      4: () => decoder.u32(),
      5: () => decoder.u64(),
      6: () => decoder.be16(),
      7: () => decoder.be32(),
      8: () => decoder.length,
      9: () => decoder.string(),
      10: () => `${decoder.address()}`,
      11: () => readNested(decoder.nested()),
    };
    const values: unknown[] = [];
    while (decoder.next()) values.push(read[decoder.type]?.());
    assertEquals(values, [true, 2, 3, 4, 5n, 6, 7, 8, "nine", "fd00::2", [12, 300, 13, 4]]);
  }
});

function readNested(decoder: AttributeDecoder): number[] {
  const values: number[] = [];
  while (decoder.next()) values.push(decoder.type, decoder.length);
  return values;
}

Deno.test("PayloadEncoder refuses an attribute longer than its length field can say", () => {
  assertThrows(
    () => new PayloadEncoder().bytes(7, new Uint8Array(65_532)),
    InvalidRequestError,
    "Cannot encode netlink message: attribute 7 has 65536 bytes, the limit is 65535",
  );
});
