/** tailscaled lives through our own restarts, or ends with us: as it is wanted. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { procTable } from "../../lib/sys/process_table.ts";
import { bundle } from "../../tools/build/bundle.ts";
import { compile } from "../../tools/build/compile.ts";
import { runtimePin } from "../../tools/build/pins.ts";
import { findRuntime } from "../../tools/build/runtime.ts";
import { isTarget } from "../../tools/build/targets.ts";
import type { TailscaledSettings } from "../../lib/tailscale/mod.ts";

import { requires, tool } from "../requires.ts";
import { NEEDS, pidOf, TestHost, until } from "./fixture.ts";

/** Another process of this program, compiled as the product is. */
class Daemon implements AsyncDisposable {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  static async compile(): Promise<Daemon> {
    const directory = Deno.makeTempDirSync({ prefix: "headcni-test-" });
    const target = Deno.build.target;
    assert(isTarget(target));
    const source = new URL("daemon.ts", import.meta.url).pathname;
    const entry = await bundle(source, `${directory}/bundle`);
    const runtime = await findRuntime(target, runtimePin(target));
    await compile(entry, `${directory}/program`, { target, runtime });
    return new Daemon(directory);
  }

  /** Starts it in the node's namespace; returns when its tailscaled answers. */
  async start(
    host: TestHost,
    settings: TailscaledSettings = {},
    ...more: readonly string[]
  ): Promise<Deno.ChildProcess> {
    const { netns: _, ...own } = { ...host.options().settings, ...settings };
    const enter = `--net=/run/netns/${host.sandbox.name}`;
    const child = new Deno.Command("nsenter", {
      args: [enter, `${this.#directory}/program`, JSON.stringify(own), ...more],
      stdin: "null",
      stdout: "piped",
    }).spawn();
    const reader = child.stdout.getReader();
    const { value } = await reader.read();
    assertEquals(new TextDecoder().decode(value), "started\n");
    await reader.cancel();
    return child;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.#directory, { recursive: true });
  }
}

async function kill(child: Deno.ChildProcess): Promise<void> {
  child.kill("SIGKILL");
  await child.status;
}

Deno.test({
  ...NEEDS,
  name: "after our own end or death tailscaled runs on and is taken over, the same process",
  async fn() {
    await using program = await Daemon.compile();
    await using host = new TestHost();
    // An end in good order: nothing holds the program back.
    const orderly = await program.start(host, {}, "release");
    assertEquals(await orderly.status, { success: true, code: 0, signal: null });
    const [old = 0] = host.pids();
    assert(procTable.signal(old, "SIGTERM"), "tailscaled ended with us");
    await until("it has ended", () => host.pids().length === 0);

    await kill(await program.start(host));
    const [pid = 0] = host.pids();
    assert(procTable.find(pid) !== undefined, "tailscaled ended with us");
    const supervisor = host.supervisor({ timing: { baseMs: 100 } });
    await supervisor.start();
    assertEquals(supervisor.state, {
      phase: "running",
      pid,
      version: "1.102.3",
      adopted: true,
      outdated: [],
    });
    assertEquals((await supervisor.api.status()).state, "NeedsLogin");

    // It is looked after like one that was started here.
    Deno.kill(pid, "SIGKILL");
    await until("another process runs", () => {
      return supervisor.state.phase === "running" && pidOf(supervisor) !== pid;
    });
    await supervisor.stop();
    assertEquals([host.pids(), host.links()], [[], ["lo"]]);
  },
});

Deno.test({
  ...NEEDS,
  name: "one that was let go is taken over, also without a record, and can be stopped",
  async fn() {
    await using host = new TestHost();
    const first = host.supervisor();
    await first.start();
    const pid = pidOf(first);
    await first.release();
    assertEquals([first.state.phase, host.pids()], ["idle", [pid]]);
    Deno.removeSync(first.files.record);
    const second = host.supervisor();
    await second.start();
    assertEquals(pidOf(second), pid);
    await second.stop();
    assertEquals([host.pids(), host.links()], [[], ["lo"]]);
  },
});

Deno.test({
  ...NEEDS,
  name: "one that runs with other settings is taken over, said to differ, and restarted on demand",
  async fn() {
    await using host = new TestHost();
    const first = host.supervisor();
    await first.start();
    const pid = pidOf(first);
    await first.release();
    const settings = { port: 41646, environment: { TS_DEBUG_MTU: "1300" } };
    const second = host.supervisor({ settings });
    await second.start();
    assert(second.state.phase === "running");
    assertEquals([second.state.pid, second.state.outdated], [pid, [
      "flags: it has --port=41645, wanted --port=41646",
      "environment: other variables are set",
    ]]);
    await second.restart();
    assert(second.state.phase === "running" && second.state.pid !== pid);
    assertEquals(second.state.outdated, []);
    assertEquals(host.sandbox.ip("link", "show", "headcni01")[0]?.mtu, 1300);
    await second.stop();
  },
});

Deno.test({
  ...NEEDS,
  name: "one that hangs is replaced",
  async fn() {
    await using host = new TestHost();
    const first = host.supervisor();
    await first.start();
    const pid = pidOf(first);
    await first.release();
    Deno.kill(pid, "SIGSTOP");
    const second = host.supervisor({ timing: { adoptMs: 1000, stopMs: 500 } });
    await second.start();
    assert(pidOf(second) !== pid);
    assertEquals(host.pids(), [pidOf(second)]);
    assertStringIncludes(host.log.lines().join("\n"), "does not answer and is ended");
    await second.stop();
    assertEquals(host.pids(), []);
  },
});

Deno.test({
  ...NEEDS,
  name: "a record that names a stranger, or nonsense, does no harm",
  async fn() {
    await using host = new TestHost();
    const supervisor = host.supervisor();
    Deno.mkdirSync(`${host.directory}/run`, { mode: 0o700 });
    const stranger = new Deno.Command("/bin/sleep", { args: ["60"] }).spawn();
    const facts = procTable.find(stranger.pid);
    const bootId = Deno.readTextFileSync("/proc/sys/kernel/random/boot_id").trim();
    const record = { ...facts, bootId, version: "1.102.3", environment: [] };
    for (const text of [JSON.stringify(record), "{", '{"pid":-1,"startTicks":"0"}', '{"pid":1}']) {
      Deno.writeTextFileSync(supervisor.files.record, text);
      await supervisor.start();
      assert(pidOf(supervisor) !== stranger.pid);
      await supervisor.stop();
    }
    assert(procTable.find(stranger.pid) !== undefined, "the stranger was killed");
    stranger.kill("SIGKILL");
    await stranger.status;
  },
});

Deno.test({
  ...NEEDS,
  ...requires(tool("setpriv", "util-linux")),
  ignore: NEEDS.ignore,
  name: "wanted so, tailscaled ends with us, and cleanly",
  async fn() {
    await using program = await Daemon.compile();
    await using host = new TestHost();
    const daemon = await program.start(host, { whenOrphaned: "end" });
    const [pid = 0] = host.pids();
    assertEquals(procTable.find(pid)?.name, "tailscaled");
    await kill(daemon);
    await until("tailscaled has ended", () => host.pids().length === 0);
    assertEquals(host.links(), ["lo"]);
    assertEquals(host.sandbox.ip("rule", "show").length, 3);
  },
});
