import { assertEquals } from "@std/assert";
import { restoringEdit } from "./leave.ts";
import { EMPTY_RECORD } from "./record.ts";
import { PODS, prefixes, tailscaledView } from "./testing.ts";

const { prefs } = tailscaledView();
const record = {
  ...EMPTY_RECORD,
  advertised: PODS,
  originalPrefs: { routeAll: false, noSnat: false },
};

Deno.test("leaving puts back what was changed, and only that", () => {
  const now = { ...prefs, advertiseRoutes: [...prefixes("192.168.7.0/24"), ...PODS] };
  assertEquals(restoringEdit(now, record), {
    routeAll: false,
    noSnat: false,
    advertiseRoutes: prefixes("192.168.7.0/24"),
  });
  assertEquals(restoringEdit(now, EMPTY_RECORD), {});
});

Deno.test("what somebody else has changed since is theirs", () => {
  const now = { ...prefs, routeAll: false, advertiseRoutes: [] };
  assertEquals(restoringEdit(now, { ...record, originalPrefs: { routeAll: true } }), {});
});
