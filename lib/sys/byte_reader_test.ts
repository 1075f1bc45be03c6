import { assertEquals, assertRejects } from "@std/assert";
import { ByteReader, LineTooLongError } from "./byte_reader.ts";

/** A stream that gives `pieces`, one at a time. */
function readerOf(...pieces: readonly string[]): ByteReader {
  const rest = pieces.map((piece) => new TextEncoder().encode(piece));
  return new ByteReader({
    read(buffer) {
      const piece = rest.shift();
      if (piece !== undefined) buffer.set(piece);
      return Promise.resolve(piece?.length ?? null);
    },
  });
}

Deno.test("lines and bytes come out however they were cut", async () => {
  const reader = readerOf("on", "e\r", "\ntwo\nthr", "ee");
  assertEquals([await reader.line(10), await reader.line(10)], ["one", "two"]);
  assertEquals(await reader.some(2), new TextEncoder().encode("th"));
  assertEquals(await reader.some(99), new TextEncoder().encode("r"));
  assertEquals(await reader.some(99), new TextEncoder().encode("ee"));
  assertEquals([await reader.some(1), await reader.line(1)], [undefined, undefined]);
});

Deno.test("a line that is too long is refused, whether its end has come or not", async () => {
  await assertRejects(() => readerOf("12345\n").line(4), LineTooLongError);
  await assertRejects(() => readerOf("123", "45").line(4), LineTooLongError);
  assertEquals(await readerOf("1234\n").line(4), "1234");
});
