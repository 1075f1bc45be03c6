import { assert, assertEquals } from "@std/assert";
import { cryptoRandomBelow } from "./random.ts";

Deno.test("cryptoRandomBelow() stays below the limit and reaches every number", () => {
  for (const limit of [1n, 2n, 3n, 7n, 8n, 9n]) {
    const seen = new Set<bigint>();
    for (let draw = 0; draw < 400; draw++) seen.add(cryptoRandomBelow(limit));
    assertEquals(seen.size, Number(limit));
    assert([...seen].every((value) => value >= 0n && value < limit));
  }
  const large = [1, 2].map(() => cryptoRandomBelow(2n ** 64n));
  assertEquals(new Set(large).size, 2);
});
