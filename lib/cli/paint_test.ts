import { assertEquals } from "@std/assert";
import { choosePaint, PLAIN } from "./paint.ts";

Deno.test("choosePaint() colours terminals and what asks for it, but never with NO_COLOR", () => {
  const isPlain = (when: string, isTerminal: boolean, noColor: boolean) =>
    choosePaint({ when, isTerminal, noColor }) === PLAIN;
  assertEquals(isPlain("auto", true, false), false);
  assertEquals(isPlain("auto", false, false), true);
  assertEquals(isPlain("always", false, false), false);
  assertEquals(isPlain("never", true, false), true);
  assertEquals(isPlain("always", true, true), true);
});
