import { assertEquals } from "@std/assert";
import { FakeClock } from "../../sys/testing.ts";
import { Bell } from "./wake.ts";

const waiting = (bell: Bell, clock: FakeClock, signal = new AbortController().signal) =>
  bell.wait(30_000, { clock, signal });

Deno.test("a ring wakes at once; without one, the time does", async () => {
  const [bell, clock] = [new Bell(), new FakeClock()];
  const first = waiting(bell, clock);
  bell.ring();
  assertEquals(await first, true);
  const second = waiting(bell, clock);
  await clock.advance(30_000);
  assertEquals(await second, false);
});

Deno.test("a ring while nobody waits is kept, and many are one", async () => {
  const [bell, clock] = [new Bell(), new FakeClock()];
  bell.ring();
  bell.ring();
  assertEquals(await waiting(bell, clock), true);
  const next = waiting(bell, clock);
  await clock.advance(30_000);
  assertEquals(await next, false);
});

Deno.test("the signal ends the wait, also one that was given before", async () => {
  const [bell, clock] = [new Bell(), new FakeClock()];
  const stop = new AbortController();
  const wait = waiting(bell, clock, stop.signal);
  stop.abort();
  assertEquals(await wait, false);
  assertEquals(await waiting(bell, clock, stop.signal), false);
});
