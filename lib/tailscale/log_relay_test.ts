import { assertEquals } from "@std/assert";
import { Secret } from "../sys/secret.ts";
import { FakeClock, recordingLog } from "../sys/testing.ts";
import { LogRelay } from "./log_relay.ts";

Deno.test("lines are passed on without their time and without keys", () => {
  const log = recordingLog();
  const relay = new LogRelay({ log, clock: new FakeClock() });
  relay.conceal(new Secret("0123456789abcdef"));
  relay.line("2026/11/16 09:12:48 using key 0123456789abcdef and tskey-auth-x");
  assertEquals(log.records.map(({ message }) => message), ["using key *** and ***"]);
});

Deno.test("a flood is cut short, and how much was left out is told", async () => {
  const [log, clock] = [recordingLog(), new FakeClock()];
  const relay = new LogRelay({ log, clock, burst: 5, perSecond: 2 });
  for (let i = 0; i < 1000; i++) relay.line(`flood ${i}`);
  assertEquals(log.records.length, 5);
  assertEquals(relay.lastLines().at(-1), "flood 999");
  await clock.advance(1000);
  relay.line("calm");
  assertEquals(log.lines().slice(5), [
    'level=WARN msg="lines of tailscaled were left out" lines=995',
    'level=DEBUG msg="calm"',
  ]);
});
