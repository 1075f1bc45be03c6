import { assertEquals } from "@std/assert";
import { systemClock } from "./clock.ts";
import { untilSignalled } from "./signals.ts";

Deno.test("SIGTERM ends the work in its own time", async () => {
  const events: string[] = [];
  await untilSignalled(async (signal) => {
    Deno.kill(Deno.pid, "SIGTERM");
    await systemClock.sleep(30_000, { signal }).then(
      () => events.push("not asked"),
      () => events.push("asked to end"),
    );
    await systemClock.sleep(1);
    events.push("ended");
  });
  assertEquals(events, ["asked to end", "ended"]);
});
