import { assertEquals, assertThrows } from "@std/assert";
import { AttributeDecoder } from "./attribute_decoder.ts";
import { MalformedMessageError } from "./errors.ts";

Deno.test("AttributeDecoder refuses lengths that do not fit", () => {
  for (const bytes of [[3, 0, 1, 0], [0, 0, 1, 0], [9, 0, 1, 0, 1, 2, 3, 4], [255, 255, 1, 0]]) {
    const decoder = AttributeDecoder.of(Uint8Array.from(bytes));
    assertThrows(() => decoder.next(), MalformedMessageError, "attribute claims");
  }
});

Deno.test("AttributeDecoder takes fewer bytes than a header at the end for padding", () => {
  const decoder = AttributeDecoder.of(Uint8Array.of(4, 0, 1, 0, 0, 0, 0));
  assertEquals([decoder.next(), decoder.next()], [true, false]);
});

Deno.test("AttributeDecoder strips the nested and byte order bits from types", () => {
  const decoder = AttributeDecoder.of(Uint8Array.of(4, 0, 18, 0x80, 4, 0, 2, 0x40));
  decoder.next();
  assertEquals(decoder.type, 18);
  decoder.next();
  assertEquals(decoder.type, 2);
});

Deno.test("AttributeDecoder refuses to read a value of another size", () => {
  const decoder = AttributeDecoder.of(Uint8Array.of(6, 0, 1, 0, 1, 2, 0, 0));
  decoder.next();
  assertEquals(decoder.u16(), 0x201);
  const readers = [
    () => decoder.u8(),
    () => decoder.u32(),
    () => decoder.u64(),
    () => decoder.be32(),
    () => decoder.address(),
    () => decoder.struct(3),
    () => decoder.nested(3),
  ];
  for (const read of readers) assertThrows(read, MalformedMessageError, "attribute 1 has 2 bytes");
});

Deno.test("AttributeDecoder reads text up to the first NUL, in UTF-8", () => {
  const text = (payload: number[]) => {
    const decoder = AttributeDecoder.of(Uint8Array.of(4 + payload.length, 0, 3, 0, ...payload));
    decoder.next();
    return decoder.string();
  };
  assertEquals(text([0x6c, 0x6f, 0, 0x78]), "lo");
  assertEquals(text([0x6c, 0x6f]), "lo");
  assertEquals(text([0xc3, 0xb6, 0x21, 0, 0x78]), "ö!");
  assertEquals(text([]), "");
});

Deno.test("AttributeDecoder gives copies that outlive the buffer", () => {
  const buffer = Uint8Array.of(8, 0, 1, 0, 1, 2, 3, 4);
  const decoder = AttributeDecoder.of(buffer);
  decoder.next();
  const bytes = decoder.bytes();
  buffer.fill(0);
  assertEquals([...bytes], [1, 2, 3, 4]);
});
