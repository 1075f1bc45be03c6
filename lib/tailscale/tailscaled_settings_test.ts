import { assertEquals, assertThrows } from "@std/assert";
import { InvalidRequestError } from "../netlink/mod.ts";
import { TailscaledError } from "./errors.ts";
import { completeSettings, tailscaledArgs, tailscaledEnvironment } from "./tailscaled_settings.ts";

Deno.test("flags name our own tunnel, socket, state and port; unknown flags are left out", () => {
  const settings = completeSettings({});
  const own = [
    "--tun=headcni01",
    "--socket=/run/headcni/tailscaled.sock",
    "--statedir=/var/lib/headcni/tailscale",
    "--state=/var/lib/headcni/tailscale/tailscaled.state",
    "--port=41645",
    "--no-logs-no-support",
  ];
  assertEquals(tailscaledArgs(settings, { flags: new Set() }), own);
  const flags = new Set(["encrypt-state", "tun"]);
  assertEquals(tailscaledArgs(settings, { flags }), [...own, "--encrypt-state=false"]);
});

Deno.test("the environment is the given one and what keeps tailscaled in its own files", () => {
  const environment = { TS_DEBUG_MTU: "1420" };
  assertEquals(Object.keys(tailscaledEnvironment(completeSettings({ environment }))), [
    "PATH",
    "TS_LOGS_DIR",
    "TS_DEBUG_MTU",
  ]);
});

Deno.test("a name or a path the kernel would not take is refused", () => {
  assertThrows(() => completeSettings({ tun: "a name too long" }), InvalidRequestError);
  const runtimeDirectory = `/run/${"x".repeat(100)}`;
  assertThrows(() => completeSettings({ runtimeDirectory }), TailscaledError, "at most 107 bytes");
});
