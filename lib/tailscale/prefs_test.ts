import { assertEquals, assertThrows } from "@std/assert";
import { parsePrefix } from "../ip/mod.ts";
import { JsonShapeError } from "../sys/json_view.ts";
import { encodeEdit, parsePrefs, prefsDifference } from "./prefs.ts";

Deno.test("only what is to change is sent, each with its mark; routes without host bits", () => {
  assertEquals(encodeEdit({}), {});
  assertEquals(
    encodeEdit({
      routeAll: false,
      netfilterMode: "off",
      autoUpdateCheck: false,
      advertiseRoutes: [parsePrefix("10.244.3.7/24"), parsePrefix("fd00:3::/64")],
    }),
    {
      RouteAll: false,
      RouteAllSet: true,
      NetfilterMode: 0,
      NetfilterModeSet: true,
      AutoUpdate: { Check: false },
      AutoUpdateSet: { CheckSet: true },
      AdvertiseRoutes: ["10.244.3.0/24", "fd00:3::/64"],
      AdvertiseRoutesSet: true,
    },
  );
});

Deno.test("settings as 1.102.3 tells them are read", () => {
  const prefs = parsePrefs(JSON.stringify({
    ControlURL: "",
    CorpDNS: true,
    LoggedOut: true,
    AdvertiseTags: null,
    AdvertiseRoutes: null,
    NoStatefulFiltering: null,
    NetfilterMode: 2,
    AutoUpdate: { Check: true, Apply: null },
    Config: null,
  }));
  assertEquals([prefs.corpDns, prefs.loggedOut, prefs.wantRunning], [true, true, false]);
  assertEquals([prefs.advertiseRoutes, prefs.noStatefulFiltering], [[], undefined]);
  assertEquals([prefs.netfilterMode, prefs.autoUpdateCheck], ["on", true]);
  assertThrows(() => parsePrefs('{"CorpDNS":"yes"}'), JsonShapeError, "CorpDNS is a text");
});

Deno.test("lists are compared as sets, so that sorting is no change", () => {
  const current = parsePrefs('{"AdvertiseRoutes":["10.1.0.0/16","10.2.0.0/16"],"Hostname":"a"}');
  const [one, two] = current.advertiseRoutes;
  if (one === undefined || two === undefined) throw new Error("Cannot compare: no routes");
  assertEquals(prefsDifference(current, { advertiseRoutes: [two, one], hostname: "a" }), {});
  assertEquals(prefsDifference(current, { advertiseRoutes: [one] }), { advertiseRoutes: [one] });
});
