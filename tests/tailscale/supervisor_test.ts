/** The supervisor with real tailscaled processes. */

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { procTable } from "../../lib/sys/process_table.ts";
import { TailscaledError, TailscaledSupervisor } from "../../lib/tailscale/mod.ts";
import { NEEDS, pidOf, tailscaled, TestHost, until } from "./fixture.ts";

const modeOf = (path: string) => (Deno.statSync(path).mode ?? 0) & 0o777;

Deno.test({
  ...NEEDS,
  name: "tailscaled is started with files of its own, and stopped without a trace",
  async fn() {
    const before = ["/var/lib/tailscale", "/var/run/tailscale"].map(exists);
    await using host = new TestHost();
    const supervisor = host.supervisor();
    await supervisor.start();
    const facts = procTable.find(pidOf(supervisor));
    assert(facts?.args.includes("--tun=headcni01") && facts.args.includes("--port=41645"));
    assertEquals(facts?.netnsId, host.sandbox.netns.id);
    assertEquals(host.links(), ["lo", "headcni01"]);
    assertEquals((await supervisor.api.status()).state, "NeedsLogin");

    const { socket, state, log, record } = supervisor.files;
    for (const path of [`${host.directory}/run`, `${host.directory}/state`]) {
      assertEquals(modeOf(path), 0o700, path);
    }
    for (const path of [state, log, record]) assertEquals(modeOf(path), 0o600, path);
    assert(Deno.lstatSync(socket).isSocket);
    // Without being told, it keeps this one in /var/lib/tailscale.
    assert(exists(`${host.directory}/state/tailscaled.log.conf`));

    await supervisor.stop();
    assertEquals([host.pids(), host.links()], [[], ["lo"]]);
    assertEquals(host.sandbox.ip("rule", "show").map(({ priority }) => priority), [
      0,
      32766,
      32767,
    ]);
    assertEquals([exists(record), exists(socket)], [false, false]);
    assertEquals(["/var/lib/tailscale", "/var/run/tailscale"].map(exists), before);
    assertEquals(host.states.map(({ phase }) => phase), ["starting", "running", "idle"]);
  },
});

function exists(path: string): boolean {
  try {
    return Deno.lstatSync(path) !== undefined;
  } catch {
    return false;
  }
}

Deno.test({
  ...NEEDS,
  name: "killed, tailscaled is started again, later each time",
  async fn() {
    await using host = new TestHost();
    const supervisor = host.supervisor({ timing: { baseMs: 100 }, random: (limit) => limit - 1n });
    await supervisor.start();
    const first = pidOf(supervisor);
    for (let round = 0; round < 3; round++) {
      const pid = pidOf(supervisor);
      Deno.kill(pid, "SIGKILL");
      await until("another process runs", () => {
        return supervisor.state.phase === "running" && pidOf(supervisor) !== pid;
      });
      assertEquals((await supervisor.api.status()).state, "NeedsLogin");
    }
    const waits = host.states.flatMap((state) => state.phase === "waiting" ? [state] : []);
    assertEquals(waits.map(({ retryInMs }) => retryInMs), [100, 200, 400]);
    assertEquals(waits[0]?.problem, "it ended (SIGKILL)");
    assert(!host.pids().includes(first));
    await supervisor.stop();
    assertEquals([host.pids(), host.links()], [[], ["lo"]]);
  },
});

Deno.test({
  ...NEEDS,
  name: "having run long enough, an end counts as the first again",
  async fn() {
    await using host = new TestHost();
    const timing = { baseMs: 50, stableMs: 0 };
    const supervisor = host.supervisor({ timing, random: (limit) => limit - 1n });
    await supervisor.start();
    for (let round = 0; round < 2; round++) {
      const pid = pidOf(supervisor);
      Deno.kill(pid, "SIGKILL");
      await until("another process runs", () => {
        return supervisor.state.phase === "running" && pidOf(supervisor) !== pid;
      });
    }
    const waits = host.states.flatMap((state) => state.phase === "waiting" ? [state] : []);
    assertEquals(waits.map(({ failures }) => failures), [1, 1]);
    await supervisor.stop();
  },
});

Deno.test({
  ...NEEDS,
  name: "one that does not stop when told to is killed, and its rules are taken away",
  async fn() {
    await using host = new TestHost();
    const supervisor = host.supervisor({ timing: { stopMs: 300 } });
    await supervisor.start();
    const rules = () => ["-4", "-6"].map((family) => host.sandbox.ip(family, "rule").length);
    assertEquals(rules(), [7, 6]);
    Deno.kill(pidOf(supervisor), "SIGSTOP");
    await supervisor.stop();
    assertEquals([host.pids(), host.links(), rules()], [[], ["lo"], [3, 2]]);
  },
});

Deno.test({
  ...NEEDS,
  name: "two supervisors do not share a tailscaled",
  async fn() {
    await using host = new TestHost();
    const supervisor = host.supervisor();
    await supervisor.start();
    const error = await assertRejects(() => host.supervisor().start(), TailscaledError);
    assertEquals(error.kind, "Supervised");
    assertEquals(supervisor.state.phase, "running");
    await supervisor.stop();
  },
});

Deno.test({
  ...NEEDS,
  name: "calls in quick succession come one after the other, and a stop ends a start",
  async fn() {
    await using host = new TestHost();
    const supervisor = host.supervisor();
    await Promise.all([supervisor.start(), supervisor.start()]);
    assertEquals(host.pids(), [pidOf(supervisor)]);
    const [, again] = await Promise.allSettled([supervisor.stop(), supervisor.start()]);
    assertEquals([again.status, host.pids()], ["fulfilled", [pidOf(supervisor)]]);
    await supervisor.stop();
    const starting = supervisor.start();
    const [start] = await Promise.allSettled([starting, pause().then(() => supervisor.stop())]);
    assertEquals([start.status, host.pids(), host.links()], ["rejected", [], ["lo"]]);
    await Promise.all([supervisor.stop(), supervisor.release()]);
  },
});

const pause = () => new Promise((resolve) => setTimeout(resolve, 50));

Deno.test({
  ...NEEDS,
  name: "beside another tailscaled in the namespace ours does not start, and says what to do",
  async fn() {
    await using host = new TestHost();
    const foreign = await host.foreign({ tun: "ts-other" });
    const rules = host.sandbox.ip("rule", "show");
    const supervisor = host.supervisor();
    const error = await assertRejects(() => supervisor.start(), TailscaledError);
    assertEquals([error.kind, supervisor.state.phase], ["OtherTailscaled", "idle"]);
    assertStringIncludes(error.message, `process ${host.pids()[0]} (${tailscaled.path})`);
    assertStringIncludes(error.remedy ?? "", "tailscale.mode: host");
    assertStringIncludes(error.remedy ?? "", "tailscale.isolation: netns");
    assertEquals([host.pids().length, host.links()], [1, ["lo", "ts-other"]]);
    assertEquals(host.sandbox.ip("rule", "show"), rules);
    assertEquals((await foreign.status()).state, "NeedsLogin");

    // Gone, it is no longer in the way.
    Deno.kill(host.pids()[0] ?? 0, "SIGTERM");
    await until("the other one has ended", () => host.pids().length === 0);
    await supervisor.start();
    await supervisor.stop();
  },
});

Deno.test({
  ...NEEDS,
  name: "a process that is hidden is betrayed by its interface",
  async fn() {
    await using host = new TestHost();
    await host.foreign();
    const table = { ...procTable, list: () => [] };
    const error = await assertRejects(() => host.supervisor({ table }).start(), TailscaledError);
    assertStringIncludes(error.message, "the interface tailscale0 is in it");
  },
});

Deno.test({
  ...NEEDS,
  name: "a program that ends at once is an error with its last words, and nothing is left",
  async fn() {
    await using host = new TestHost();
    const binary = `${host.directory}/tailscaled`;
    const script = `#!/bin/sh
case $1 in
  --version) echo 1.90.0 ;;
  --help) ;;
  *) echo "no such device, authkey=CANARY"; exit 3 ;;
esac
`;
    Deno.writeTextFileSync(binary, script, { mode: 0o755 });
    const supervisor = host.supervisor({ settings: { binary } });
    const error = await assertRejects(() => supervisor.start(), TailscaledError);
    assertEquals(error.kind, "NotReady");
    assertStringIncludes(error.message, "it ended (status 3); it said last: no such device");
    assert(!Deno.inspect(error).includes("CANARY"));
    assertEquals([host.pids(), supervisor.state.phase], [[], "idle"]);
  },
});

Deno.test({
  ...NEEDS,
  name: "a program that never answers is ended",
  async fn() {
    await using host = new TestHost();
    const binary = `${host.directory}/tailscaled`;
    const script = `#!/bin/sh
case $1 in
  --version) echo 1.90.0 ;;
  --help|--cleanup) ;;
  *) trap "" TERM; while :; do sleep 1; done ;;
esac
`;
    Deno.writeTextFileSync(binary, script, { mode: 0o755 });
    const timing = { readyMs: 500, stopMs: 500 };
    const supervisor = host.supervisor({ settings: { binary }, timing });
    const error = await assertRejects(() => supervisor.start(), TailscaledError);
    assertStringIncludes(error.message, "not within 500 ms: tailscaled is not running");
    assertEquals(host.pids(), []);
    assertStringIncludes(host.log.lines().join("\n"), "tailscaled had to be killed");
  },
});

Deno.test({
  ...NEEDS,
  name: "a flood in tailscaled's log is cut short in ours, and its file stays small",
  async fn() {
    await using host = new TestHost();
    const supervisor = host.supervisor();
    await supervisor.start();
    const line = "2026/11/16 09:12:48 flood tskey-auth-CANARY\n";
    Deno.writeTextFileSync(supervisor.files.log, line.repeat(4000), { append: true });
    const flood = () => host.log.records.filter(({ message }) => message.startsWith("flood"));
    await until("the flood is seen", () => flood().length > 0);
    assert(flood().length <= 110, `${flood().length} lines`);
    Deno.writeTextFileSync(supervisor.files.log, "x".repeat(5_000_000), { append: true });
    await until("the file is small again", () => {
      return Deno.statSync(supervisor.files.log).size < 1_000_000;
    });
    await supervisor.stop();
    assert(!host.log.lines().join("\n").includes("CANARY"));
  },
});

Deno.test({
  ...NEEDS,
  name: "no program at all: the error says how to get it",
  async fn() {
    await using host = new TestHost();
    const settings = { ...host.options().settings, binary: "/nonexistent/tailscaled" };
    const supervisor = new TailscaledSupervisor({ settings });
    const error = await assertRejects(() => supervisor.start(), TailscaledError);
    assertEquals(error.kind, "NotFound");
    assertStringIncludes(error.remedy ?? "", "tailscale.com/download");
  },
});
