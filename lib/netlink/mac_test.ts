import { assertEquals, assertThrows } from "@std/assert";
import { InvalidRequestError } from "./errors.ts";
import { formatMac, parseMac } from "./mac.ts";

Deno.test("parseMac reads six bytes in either case", () => {
  assertEquals([...parseMac("0A:58:0a:ff:00:02")], [0x0a, 0x58, 0x0a, 0xff, 0, 2]);
});

Deno.test("parseMac refuses everything else", () => {
  const bad = [
    "",
    "0a:58:0a:00:00",
    "0a:58:0a:00:00:02:03",
    "0a-58-0a-00-00-02",
    "0g:58:0a:00:00:02",
    "0a:58:0a:00:00: 2",
    "a:58:0a:00:00:02x",
    "0a58:0a:00:00:02:",
  ];
  for (const text of bad) {
    assertThrows(
      () => parseMac(text),
      InvalidRequestError,
      `Cannot parse MAC address ${JSON.stringify(text)}: it is not six hexadecimal bytes`,
    );
  }
});

Deno.test("formatMac also takes the addresses of tunnels", () => {
  assertEquals(formatMac(Uint8Array.of(10, 0, 0, 1)), "0a:00:00:01");
});
