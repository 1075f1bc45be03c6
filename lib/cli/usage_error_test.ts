import { assertEquals } from "@std/assert";
import { nearest } from "./usage_error.ts";

/** What was typed, and what must be suggested among doctor, status, version, help. */
const TYPED: readonly [typed: string, suggestion: string | undefined][] = [
  ["docter", "doctor"],
  ["doc", "doctor"],
  ["stauts", "status"],
  ["halp", "help"],
  ["hlep", "help"],
  ["elp", "help"],
  ["VERSION", "version"],
  ["v", undefined],
  ["xyzzy", undefined],
  ["", undefined],
];

for (const [typed, suggestion] of TYPED) {
  Deno.test(`nearest("${typed}") is ${suggestion ?? "nothing"}`, () => {
    assertEquals(nearest(typed, ["doctor", "status", "version", "help"]), suggestion);
  });
}

Deno.test("nearest() compares flags without their dashes", () => {
  assertEquals(nearest("--jsno", ["--json", "--help"]), "--json");
  assertEquals(nearest("--x", ["--json", "--help"]), undefined);
});
