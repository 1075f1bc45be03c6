import { assert, assertEquals, assertMatch } from "@std/assert";
import { kernelBootClock } from "./boot_clock.ts";

Deno.test("kernelBootClock tells which boot this is and how long ago it was", () => {
  const { bootId, uptimeMs } = kernelBootClock;
  assertMatch(bootId(), /^[0-9a-f-]{36}$/);
  assertEquals(bootId(), bootId());
  const before = uptimeMs();
  assert(before > 0 && uptimeMs() >= before);
});
