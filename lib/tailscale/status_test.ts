import { assertEquals, assertThrows } from "@std/assert";
import { JsonShapeError } from "../sys/json_view.ts";
import { parseStatus } from "./status.ts";

const SELF = { ID: "7", PublicKey: "nodekey:01" };
const STATUS = { Version: "1.102.3-t1", BackendState: "Running", Self: SELF };

const parse = (changes: Record<string, unknown> = {}) =>
  parseStatus(JSON.stringify({ ...STATUS, ...changes }));

Deno.test("addresses, routes and times of nodes are read", () => {
  const peer = {
    ID: "9007199254740993",
    PublicKey: "nodekey:02",
    TailscaleIPs: ["100.64.0.2", "fd7a:115c:a1e0::2"],
    AllowedIPs: ["100.64.0.2/32", "10.244.2.0/24"],
    PrimaryRoutes: ["10.244.2.0/24"],
    CurAddr: "10.99.0.12:41645",
    Relay: "t",
    LastHandshake: "2026-01-02T03:04:05Z",
    Online: true,
    RxBytes: 12,
    Something: { new: true },
  };
  const { peers: [node], self, state } = parse({ Peer: { "nodekey:02": peer } });
  assertEquals([state, self.id], ["Running", "7"]);
  assertEquals(node?.id, "9007199254740993"); // as a number it would be rounded
  assertEquals(node?.addresses.map(String), ["100.64.0.2", "fd7a:115c:a1e0::2"]);
  assertEquals(node?.primaryRoutes.map(String), ["10.244.2.0/24"]);
  assertEquals(node?.lastHandshakeMs, Date.UTC(2026, 0, 2, 3, 4, 5));
  assertEquals([node?.online, node?.receivedBytes, node?.relay], [true, 12, "t"]);
  assertEquals(node?.directEndpoint, "10.99.0.12:41645");
});

Deno.test("a tailscaled that is logged out, as 1.102.3 tells it", () => {
  const status = parse({
    BackendState: "NeedsLogin",
    AuthURL: "",
    TailscaleIPs: null,
    Self: { ID: "", PublicKey: "nodekey:00", TailscaleIPs: null, KeyExpiry: null },
    Health: ["Tailscale is stopped."],
    CurrentTailnet: null,
    Peer: null,
  });
  assertEquals([status.state, status.self.id, status.authUrl], ["NeedsLogin", "", undefined]);
  assertEquals([status.addresses, status.peers, status.tailnet], [[], [], undefined]);
  assertEquals(status.health, ["Tailscale is stopped."]);
});

Deno.test("Go's zero time is never, and a state of tomorrow is no error", () => {
  const self = { ...SELF, LastHandshake: "0001-01-01T00:00:00Z" };
  const status = parse({ Self: self, BackendState: "Hibernating" });
  assertEquals([status.self.lastHandshakeMs, status.state], [undefined, "Unknown"]);
});

Deno.test("an answer of another shape says where", () => {
  const wrong: [Record<string, unknown>, string][] = [
    [{ Self: null }, "Self is absent instead of an object"],
    [{ Self: { ...SELF, TailscaleIPs: ["100.64.0.1", 5] } }, "Self.TailscaleIPs[1] is 5"],
    [{ Self: { ...SELF, PrimaryRoutes: ["10.0.0.0/99"] } }, "Self.PrimaryRoutes[0] is wrong"],
    [{ Peer: { k: [] } }, "Peer.k is a list"],
    [{ Version: undefined }, "Version is absent"],
  ];
  for (const [changes, reason] of wrong) {
    assertThrows(() => parse(changes), JsonShapeError, reason);
  }
});
