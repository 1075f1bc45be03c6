import { assertEquals, assertThrows } from "@std/assert";
import { parseAddress } from "../ip/address.ts";
import { addressKey, fromKey, keyAddress, toPlace } from "./address_key.ts";

const ADDRESSES = ["0.0.0.0", "10.0.0.255", "10.0.1.0", "255.255.255.255", "::", "::1", "fd00::ff"];

Deno.test("an address comes back from its key", () => {
  for (const text of ADDRESSES) {
    assertEquals(keyAddress(addressKey(parseAddress(text))).toString(), text);
  }
});

Deno.test("keys compare as their addresses do within a family", () => {
  const hex = (text: string) => addressKey(parseAddress(text)).toHex();
  for (const list of [ADDRESSES.slice(0, 4), ADDRESSES.slice(4)]) {
    assertEquals(list.map(hex), list.map(hex).sort());
  }
});

Deno.test("places are distinct, and a key is 16 bytes", () => {
  const places = ADDRESSES.map((text) => toPlace(parseAddress(text)));
  assertEquals(new Set(places).size, ADDRESSES.length);
  for (const bad of [null, "x", new Uint8Array(4)]) assertThrows(() => fromKey(bad), TypeError);
});
