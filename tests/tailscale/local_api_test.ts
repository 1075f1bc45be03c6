/** The LocalAPI client on a real tailscaled that is in no tailnet. */

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { parseAddress, parsePrefix } from "../../lib/ip/mod.ts";
import { writeSysctl } from "../../lib/netlink/mod.ts";
import { LocalApiError, prefsDifference, watchBus } from "../../lib/tailscale/mod.ts";
import type { WakeUp } from "../../lib/tailscale/mod.ts";
import { NEEDS, TestHost, until } from "./fixture.ts";

Deno.test({
  ...NEEDS,
  name: "status, settings, metrics and warnings of a real tailscaled",
  async fn(t) {
    await using host = new TestHost();
    const api = await host.foreign();

    await t.step("the status of one that is logged out", async () => {
      const status = await api.status();
      assertEquals([status.state, status.tun, status.haveNodeKey], ["NeedsLogin", true, false]);
      assertEquals([status.self.id, status.peers, status.addresses], ["", [], []]);
      assertStringIncludes(status.version, "1.102.3");
    });

    await t.step("settings are changed, read back, and the rest stays", async () => {
      const before = await api.prefs();
      assertEquals([before.corpDns, before.routeAll, before.netfilterMode], [true, false, "on"]);
      const wanted = {
        corpDns: false,
        routeAll: true,
        noSnat: true,
        noStatefulFiltering: true,
        netfilterMode: "off",
        hostname: "node-1",
        controlUrl: "http://127.0.0.1:1",
        autoUpdateCheck: false,
        advertiseRoutes: [parsePrefix("fd00:3::/64"), parsePrefix("10.244.3.0/24")],
        advertiseTags: ["tag:k8s-node"],
      } as const;
      const after = await api.editPrefs(wanted);
      assertEquals(await api.prefs(), after);
      assertEquals(prefsDifference(after, wanted), {});
      assertEquals([after.shieldsUp, after.wantRunning], [before.shieldsUp, before.wantRunning]);
      await api.editPrefs({ advertiseRoutes: [] });
      assertEquals((await api.prefs()).advertiseRoutes, []);
      assertEquals((await api.prefs()).hostname, "node-1");
    });

    await t.step("metrics, forwarding, an address nobody has", async () => {
      assertStringIncludes(await api.userMetrics(), "tailscaled_advertised_routes 0");
      assertEquals(await api.whoIs(parseAddress("100.64.0.9")), undefined);
      assertEquals((await api.ping(parseAddress("100.64.0.9"))).problem, "no matching peer");
      await api.editPrefs({ advertiseRoutes: [parsePrefix("10.244.3.0/24")] });
      writeSysctl("net/ipv4/ip_forward", 0, host.sandbox);
      assertStringIncludes(await api.checkIpForwarding() ?? "", "forwarding");
      writeSysctl("net/ipv4/ip_forward", 1, host.sandbox);
      writeSysctl("net/ipv6/conf/all/forwarding", 1, host.sandbox);
      assertEquals(await api.checkIpForwarding(), undefined);
    });
  },
});

Deno.test({
  ...NEEDS,
  name: "a change wakes, and so does tailscaled's end and its return",
  async fn() {
    await using host = new TestHost();
    const supervisor = host.supervisor({ timing: { baseMs: 100 } });
    await supervisor.start();
    const stop = new AbortController();
    const wakeUps: WakeUp[] = [];
    const watch = watchBus(supervisor.api, {
      signal: stop.signal,
      onWake: (wakeUp) => wakeUps.push(wakeUp),
      settleMs: 20,
    });
    const woken = (reason: "connected" | "changed" | "lost") => {
      return until(`woken: ${reason}`, () => {
        return wakeUps.splice(0).some(({ reasons }) => reasons.has(reason));
      });
    };
    await woken("connected");
    await supervisor.api.editPrefs({ hostname: "changed" });
    await woken("changed");
    Deno.kill(host.pids()[0] ?? 0, "SIGKILL");
    await woken("lost");
    await woken("connected");
    // Before its first login tailscaled keeps settings in memory only: they are to be made anew.
    assertEquals((await supervisor.api.prefs()).hostname, "");
    stop.abort();
    await watch;
    await supervisor.stop();
    const error = await assertRejects(() => supervisor.api.status(), LocalApiError);
    assertEquals(error.kind, "NotRunning");
    assert(error.remedy?.includes("Start it"));
  },
});
