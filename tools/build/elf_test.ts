import { assertEquals } from "@std/assert";
import { elfArchitecture, elfLength } from "./elf.ts";

/** A 64-byte ELF header of an x86_64 file whose section headers end at byte 200. */
function header(): Uint8Array {
  const bytes = new Uint8Array(256);
  bytes.set([0x7f, 0x45, 0x4c, 0x46, 2, 1]);
  const view = new DataView(bytes.buffer);
  view.setUint16(0x12, 62, true);
  view.setBigUint64(0x28, 72n, true);
  view.setUint16(0x3a, 64, true);
  view.setUint16(0x3c, 2, true);
  return bytes;
}

Deno.test("elfLength() ends behind the section header table", () => {
  assertEquals(elfLength(header()), 200);
});

Deno.test("elfLength() rejects a file that ends before its section headers do", () => {
  assertEquals(elfLength(header().subarray(0, 199)), undefined);
});

Deno.test("elfLength() and elfArchitecture() reject what is no ELF file", () => {
  const text = new TextEncoder().encode("#!/bin/sh\n".repeat(20));
  assertEquals([elfLength(text), elfArchitecture(text)], [undefined, undefined]);
});

Deno.test("elfArchitecture() names the processor as Debian does", () => {
  assertEquals(elfArchitecture(header()), "amd64");
});

Deno.test("elfLength() of a program nothing was appended to is its size", async () => {
  const bytes = await Deno.readFile("/bin/true");
  assertEquals(elfLength(bytes), bytes.length);
});
