/** A supervised tailscaled that joins a real tailnet; the key it is given must not turn up anywhere. */

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { parsePrefix } from "../../lib/ip/mod.ts";
import { Secret } from "../../lib/sys/secret.ts";
import { type RecordingLog, recordingLog } from "../../lib/sys/testing.ts";
import { LocalApiError, TailscaledSupervisor, watchBus } from "../../lib/tailscale/mod.ts";
import { HEADSCALE_VERSIONS, TAILSCALE_VERSION } from "../../tools/go_parts/parts.ts";
import { TestTailscale } from "../headscale/node.ts";
import { startHeadscale, type TestHeadscale } from "../headscale/server.ts";
import { part, requires } from "../requires.ts";
import { NEEDS, pidOf, tailscaled, until } from "./fixture.ts";

const headscale = await part("headscale", HEADSCALE_VERSIONS.at(-1) ?? "");
const tailscale = await part("tailscale", TAILSCALE_VERSION);
const { ignore } = requires(headscale, tailscale);

const CONTROL_URL = "http://127.0.0.1:8080";

/** A key for one node. */
function mint(server: TestHeadscale): Secret {
  const printed = server.cli("preauthkeys", "create", "--user", "1", "-o", "json");
  return new Secret(JSON.parse(printed).key);
}

function supervise(server: TestHeadscale, log: RecordingLog): TailscaledSupervisor {
  return new TailscaledSupervisor({
    log,
    timing: { baseMs: 100 },
    settings: {
      binary: tailscaled.path,
      netns: server.netns,
      runtimeDirectory: `${server.directory}/run`,
      stateDirectory: `${server.directory}/state`,
      environment: { TS_DEBUG_USE_DERP_HTTP: "true", TS_DISABLE_PORTMAPPER: "1" },
    },
  });
}

/** Every regular file below `directory`. */
function filesBelow(directory: string): string[] {
  return [...Deno.readDirSync(directory)].flatMap(({ name, isDirectory, isFile }) => {
    const path = `${directory}/${name}`;
    if (isDirectory) return filesBelow(path);
    return isFile ? [path] : [];
  });
}

/** Fails if `key` is anywhere it could be read, or a file is open to others. */
function checkSecrecy(supervisor: TailscaledSupervisor, key: Secret, log: RecordingLog): void {
  const { socket, state } = supervisor.files;
  const pid = pidOf(supervisor);
  const places = [
    ...filesBelow(socket.replace(/\/[^/]*$/, "")),
    ...filesBelow(state.replace(/\/[^/]*$/, "")),
  ];
  for (const path of [...places, `/proc/${pid}/cmdline`, `/proc/${pid}/environ`]) {
    assert(!Deno.readTextFileSync(path).includes(key.expose()), `the key is in ${path}`);
  }
  for (const path of places) assertEquals((Deno.statSync(path).mode ?? 0) & 0o077, 0, path);
  assert(!log.lines().join("\n").includes(key.expose()), "the key is in the log");
}

Deno.test({
  ...NEEDS,
  ignore: NEEDS.ignore || ignore,
  name: "tailscaled joins a tailnet with a key, keeps its place without one, and leaves",
  async fn(t) {
    await using server = await startHeadscale(headscale.path);
    server.cli("users", "create", "k8s");
    const log = recordingLog();
    const supervisor = supervise(server, log);
    await supervisor.start();
    const { api } = supervisor;
    const stop = new AbortController();
    const complaints: string[] = [];
    let wakeUps = 0;
    const watch = watchBus(api, {
      signal: stop.signal,
      onWake({ complaint }) {
        wakeUps += 1;
        if (complaint !== undefined) complaints.push(complaint);
      },
    });
    /** Does `work` once the bus has been silent for a while; returns when it is no more. */
    const wakesUpBy = async (what: string, work: () => unknown) => {
      const before = await until("the bus is silent", async () => {
        const seen = wakeUps;
        await new Promise((resolve) => setTimeout(resolve, 1500));
        return wakeUps === seen ? seen : undefined;
      });
      await work();
      await until(`woken: ${what}`, () => wakeUps > before);
    };
    const running = () => until("it runs", async () => (await api.status()).state === "Running");

    await t.step("a key that is not valid is refused, and that is told", async () => {
      const key = new Secret("hskey-auth-CANARY000000-0123456789abcdef0123456789abcdef");
      supervisor.conceal(key);
      const controlUrl = CONTROL_URL;
      await api.editPrefs({ controlUrl, wantRunning: true, corpDns: false, netfilterMode: "off" });
      await api.start({ authKey: key });
      await api.loginInteractive();
      await until("it complains", () => complaints.length > 0);
      assert(!complaints.join("\n").includes("CANARY"), complaints.join("\n"));
      assertEquals((await api.status()).state, "NeedsLogin");
      checkSecrecy(supervisor, key, log);
    });

    await t.step("a valid one lets it in", async () => {
      const key = mint(server);
      supervisor.conceal(key);
      await api.editPrefs({ advertiseRoutes: [parsePrefix("10.244.3.0/24")], hostname: "node-3" });
      await api.start({ authKey: key });
      await api.loginInteractive();
      await running();
      const { self, addresses, haveNodeKey } = await api.status();
      assertEquals([self.id, self.hostName, haveNodeKey], ["1", "node-3", true]);
      assertEquals(addresses.map(String), ["100.64.0.1", "fd7a:115c:a1e0::1"]);
      const { advertiseRoutes, corpDns, netfilterMode } = await api.prefs();
      assertEquals(advertiseRoutes.map(String), ["10.244.3.0/24"]);
      assertEquals([corpDns, netfilterMode], [false, "off"]);
      assert(self.publicKey.startsWith("nodekey:"));
      checkSecrecy(supervisor, key, log);
    });

    await t.step(
      "an approved route wakes, and is seen in its own status at its next report",
      async () => {
        await wakesUpBy("the approval", () => {
          server.cli("nodes", "approve-routes", "-i", "1", "-r", "10.244.3.0/24");
        });
        // Headscale 0.29.2 tells peers at once, but the node itself only with its next change.
        const routes = ["10.244.3.0/24", "10.244.99.0/24"].map((text) => parsePrefix(text));
        await api.editPrefs({ advertiseRoutes: routes });
        const { self } = await until("it is the router", async () => {
          const status = await api.status();
          return status.self.primaryRoutes.length > 0 ? status : undefined;
        });
        assertEquals(self.primaryRoutes.map(String), ["10.244.3.0/24"]);
      },
    );

    await t.step("killed, it is back with its own key, and its settings", async () => {
      const pid = pidOf(supervisor);
      Deno.kill(pid, "SIGKILL");
      await until("another process runs", () => {
        return supervisor.state.phase === "running" && pidOf(supervisor) !== pid;
      });
      await running();
      assertEquals((await api.status()).self.id, "1");
      assertEquals((await api.prefs()).hostname, "node-3");
    });

    await t.step("a peer is seen, named and reached", async () => {
      // Last: another one in the namespace would keep ours from being started again.
      const programs = { tailscaled: tailscaled.path, tailscale: tailscale.path };
      const other = new TestTailscale(server, "other", programs);
      other.start();
      await wakesUpBy("the peer", () => other.up(mint(server), []));
      const peer = await until("the peer is seen", async () => (await api.status()).peers[0]);
      const [address] = peer.addresses;
      assert(address !== undefined);
      const owner = await api.whoIs(address);
      assertEquals([owner?.nodeId, owner?.loginName.split("@")[0]], [peer.id, "k8s"]);
      const pong = await until("it answers", async () => {
        const pong = await api.ping(address, { timeoutMs: 10_000 }).catch(() => undefined);
        return pong?.problem === undefined ? pong : undefined;
      });
      assertEquals(`${pong.nodeAddress}`, `${address}`);
    });

    await t.step("logged out, it has no key any more", async () => {
      await api.logout();
      const { state, haveNodeKey } = await until("it is out", async () => {
        const status = await api.status();
        return status.state === "NeedsLogin" ? status : undefined;
      });
      assertEquals([state, haveNodeKey], ["NeedsLogin", false]);
    });

    stop.abort();
    await watch;
    await supervisor.stop();
    const error = await assertRejects(() => api.start({ authKey: new Secret("CANARY") }));
    assert(error instanceof LocalApiError && error.kind === "NotRunning");
    assertStringIncludes(error.message, "tailscaled is not running");
    assert(!Deno.inspect(error).includes("CANARY"));
  },
});
