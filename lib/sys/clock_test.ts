import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { DeadlineError, systemClock, withDeadline } from "./clock.ts";
import { FakeClock } from "./testing.ts";

Deno.test("systemClock.sleep() waits at least as long as asked", async () => {
  const start = systemClock.monotonicMs();
  await systemClock.sleep(20);
  // Timers round to whole milliseconds.
  assert(systemClock.monotonicMs() - start >= 19);
});

Deno.test("systemClock.sleep() rejects with the reason of its signal", async () => {
  const reason = new Error("stop");
  await assertRejects(() => systemClock.sleep(60_000, { signal: AbortSignal.abort(reason) }));
  const controller = new AbortController();
  const sleeping = systemClock.sleep(60_000, { signal: controller.signal });
  controller.abort(reason);
  assertStrictEquals(await assertRejects(() => sleeping), reason);
});

Deno.test("systemClock.sleep() does not wake at once from a sleep of years", async () => {
  const controller = new AbortController();
  const sleeping = systemClock.sleep(2 ** 40, { signal: controller.signal });
  const winner = await Promise.race([
    sleeping.then(() => "woke"),
    systemClock.sleep(10).then(() => "slept"),
  ]);
  controller.abort();
  await assertRejects(() => sleeping);
  assertEquals(winner, "slept");
});

Deno.test("withDeadline() gives the result of work that is in time", async () => {
  const result = await withDeadline(60_000, () => Promise.resolve(7), { operation: "add" });
  assertEquals(result, 7);
});

Deno.test("withDeadline() passes the work's own error through", async () => {
  const own = new Error("own");
  const error = await assertRejects(() =>
    withDeadline(60_000, () => Promise.reject(own), { operation: "add" })
  );
  assertStrictEquals(error, own);
});

Deno.test("withDeadline() names operation, subject and limit", async () => {
  const clock = new FakeClock();
  const late = withDeadline(3000, (signal) => clock.sleep(9999, { signal }), {
    operation: "approve routes of",
    subject: "node-7",
    clock,
  });
  const checked = assertRejects(
    () => late,
    DeadlineError,
    "Cannot approve routes of node-7: not finished after 3000 ms",
  );
  await clock.advance(3000);
  assertEquals((await checked).limitMs, 3000);
  assertEquals(clock.sleepers, 0);
});

Deno.test("withDeadline() does not wait for work that ignores its signal", async () => {
  const { promise, reject } = Promise.withResolvers<never>();
  await assertRejects(() => withDeadline(1, () => promise, { operation: "wait" }), DeadlineError);
  // Nobody listens any more; this must not surface as an unhandled rejection.
  reject(new Error("too late"));
  await systemClock.sleep(1);
});

Deno.test("withDeadline() stops with the caller's signal and reason", async () => {
  const controller = new AbortController();
  const reason = new Error("daemon is stopping");
  const work = withDeadline(60_000, (signal) => systemClock.sleep(60_000, { signal }), {
    operation: "watch",
    signal: controller.signal,
  });
  controller.abort(reason);
  assertStrictEquals(await assertRejects(() => work), reason);

  let started = false;
  const refused = withDeadline(1, () => Promise.resolve(started = true), {
    operation: "watch",
    signal: controller.signal,
  });
  assertStrictEquals(await assertRejects(() => refused), reason);
  assertEquals(started, false);
});

Deno.test("FakeClock wakes sleepers in the order of their times", async () => {
  const clock = new FakeClock({ now: 1000 });
  const woken: string[] = [];
  clock.sleep(30).then(() => woken.push(`c at ${clock.now()}`));
  clock.sleep(10).then(async () => {
    woken.push(`a at ${clock.now()}`);
    await clock.sleep(10);
    woken.push(`b at ${clock.now()}`);
  });
  await clock.advance(25);
  assertEquals(woken, ["a at 1010", "b at 1020"]);
  assertEquals([clock.now(), clock.monotonicMs(), clock.sleepers], [1025, 25, 1]);
  await clock.advance(5);
  assertEquals(woken.at(-1), "c at 1030");
});

Deno.test("FakeClock.setTime() moves the wall clock only", async () => {
  const clock = new FakeClock({ now: 1000 });
  clock.setTime(500);
  assertEquals([clock.now(), clock.monotonicMs()], [500, 0]);
  await clock.advance(1);
  assertEquals([clock.now(), clock.monotonicMs()], [501, 1]);
});

Deno.test("FakeClock.sleep() honours its signal", async () => {
  const clock = new FakeClock();
  const controller = new AbortController();
  const sleeping = clock.sleep(10, { signal: controller.signal });
  controller.abort(new Error("stop"));
  await assertRejects(() => sleeping, Error, "stop");
  assertEquals(clock.sleepers, 0);
});
