import { assert, assertEquals } from "@std/assert";
import { FakeClock } from "../sys/testing.ts";
import { LocalApiError } from "./errors.ts";
import { type WakeUp, watchBus } from "./watch_bus.ts";

/** What a connection to the bus brings: pieces of text, then its end or a failure. */
type Script = (stop: AbortSignal) => AsyncGenerator<string, void, void>;

/** Plays one script per connection, the last one again and again. */
async function play(
  scripts: readonly [Script, ...Script[]],
  run: (clock: FakeClock, wakeUps: readonly WakeUp[]) => Promise<void>,
): Promise<number> {
  const [clock, stop] = [new FakeClock(), new AbortController()];
  const wakeUps: WakeUp[] = [];
  let connections = 0;
  const api = {
    async *busBytes(_mask: number, signal: AbortSignal) {
      const script = scripts[Math.min(connections++, scripts.length - 1)] ?? scripts[0];
      for await (const text of script(signal)) yield new TextEncoder().encode(text);
    },
  };
  const onWake = (wakeUp: WakeUp) => void wakeUps.push(wakeUp);
  const random = (limit: bigint) => limit - 1n;
  const watch = watchBus(api, { signal: stop.signal, onWake, clock, random });
  await run(clock, wakeUps);
  stop.abort();
  await clock.advance(0);
  await watch;
  assertEquals(clock.sleepers, 0);
  return connections;
}

/** Stays open and says nothing more. */
const silence = (stop: AbortSignal) =>
  new Promise<never>((_, reject) => stop.addEventListener("abort", () => reject(stop.reason)));

const reasonsOf = (wakeUps: readonly WakeUp[]) => wakeUps.map(({ reasons }) => [...reasons]);

Deno.test("messages in quick succession wake once, however they were cut", async () => {
  await play([async function* (stop) {
    yield '{"Version":';
    yield '"1"}\n{"State":6}\n{"St';
    yield 'ate":5}\n';
    await silence(stop);
  }], async (clock, wakeUps) => {
    await clock.advance(249);
    assertEquals(wakeUps, []);
    await clock.advance(1);
    assertEquals(reasonsOf(wakeUps), [["connected", "changed"]]);
    await clock.advance(60_000);
    assertEquals(wakeUps.length, 1);
  });
});

Deno.test("a bus that ends wakes, and the next one wakes again", async () => {
  const { promise: ending, resolve: end } = Promise.withResolvers<void>();
  const connections = await play([
    async function* () {
      yield "{}\n";
      await ending;
    },
    async function* (stop) {
      yield "{}\n";
      await silence(stop);
    },
  ], async (clock, wakeUps) => {
    await clock.advance(250);
    end();
    await clock.advance(5000);
    // The pause is shorter than the time that counts as one: both reasons, one look.
    assertEquals(reasonsOf(wakeUps), [["connected"], ["lost", "connected"]]);
  });
  assertEquals(connections, 2);
});

Deno.test("while there is no bus nobody is woken, and attempts become rare", async () => {
  // deno-lint-ignore require-yield
  const connections = await play([async function* () {
    await Promise.resolve();
    throw new LocalApiError({ kind: "NotRunning", operation: "watch", reason: "not running" });
  }], async (clock, wakeUps) => {
    await clock.advance(600_000);
    assertEquals(wakeUps, []);
  });
  // 0.2 + 0.4 + … + 12.8 s, then one every 15 s.
  assert(connections > 40 && connections < 55, `${connections} attempts in ten minutes`);
});

Deno.test("a complaint is passed on, without keys; a huge message only wakes", async () => {
  await play([async function* (stop) {
    yield '{"ErrMessage":"invalid key: tskey-auth-CANARY"}\n';
    for (let i = 0; i < 100; i++) yield "x".repeat(10_000);
    yield '"ErrMessage":"hidden"}\n';
    yield "not json\n";
    await silence(stop);
  }], async (clock, wakeUps) => {
    await clock.advance(250);
    assertEquals(wakeUps.map(({ complaint }) => complaint), ["invalid key: ***"]);
  });
});
