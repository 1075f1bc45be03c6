import { assert, assertEquals } from "@std/assert";
import { FakeClock } from "../../sys/testing.ts";
import { Budget } from "./budget.ts";

/** Of a call that may take `limitMs` from now. */
function budgetOf(limitMs: number, clock: FakeClock): Budget {
  return new Budget({ leftMs: () => limitMs - clock.monotonicMs() });
}

Deno.test("a plugin that hangs leaves the others a second each", async () => {
  const clock = new FakeClock();
  const budget = budgetOf(9_000, clock);
  const shares: number[] = [];
  for (let left = 4; left > 0; left--) {
    const share = budget.share(left);
    shares.push(share);
    await clock.advance(share);
  }
  assertEquals(shares, [4650, 1000, 1000, 1000]);
  assertEquals(budget.share(1), 1, "no time is no reason not to try");
});

Deno.test("ADDs leave time for their DELs, and all of it ends before the call's limit", async () => {
  const clock = new FakeClock();
  const budget = budgetOf(28_000, clock);
  await clock.advance(budget.addShare());
  assertEquals(budget.addShare(), 1);
  assert(budget.share(4) > 5000);
  await clock.advance(budget.share(1));
  assert(clock.monotonicMs() < 28_000);
});
