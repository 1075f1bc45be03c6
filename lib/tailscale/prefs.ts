/** The settings of tailscaled this program reads and changes (`ipn.Prefs` of Tailscale). */

import { parsePrefix, type Prefix } from "../ip/mod.ts";
import { parseJsonView } from "../sys/json_view.ts";

/** What tailscaled does to the packet filter; the index is its number on the wire. */
const NETFILTER_MODES = ["off", "nodivert", "on"] as const;

/**
 * - `off`: no rules.
 * - `nodivert`: chains, but nothing leads to them.
 * - `on`: chains and the jumps to them.
 */
export type NetfilterMode = typeof NETFILTER_MODES[number];

/** `GET /localapi/v0/prefs`, as far as it matters here. */
export interface Prefs {
  /** The control server; empty is Tailscale's own. A change waits for the next start. */
  readonly controlUrl: string;
  readonly wantRunning: boolean;
  readonly loggedOut: boolean;
  /** Accept the routes of others. */
  readonly routeAll: boolean;
  /** Let tailscaled manage the machine's DNS. */
  readonly corpDns: boolean;
  readonly shieldsUp: boolean;
  readonly hostname: string;
  readonly advertiseRoutes: readonly Prefix[];
  readonly advertiseTags: readonly string[];
  /** Leave source addresses of forwarded packets alone. */
  readonly noSnat: boolean;
  /** Forward connections that did not begin at the tunnel; `undefined`: its own choice. */
  readonly noStatefulFiltering: boolean | undefined;
  readonly netfilterMode: NetfilterMode;
  /** Who may change settings besides root. */
  readonly operatorUser: string;
  readonly autoUpdateCheck: boolean;
}

/** Changes of settings; what is absent stays as it is. */
export type PrefsEdit = Partial<Omit<Prefs, "loggedOut" | "noStatefulFiltering">> & {
  readonly noStatefulFiltering?: boolean;
};

/**
 * The settings in the JSON `text`.
 *
 * @throws {JsonShapeError} naming the key that is wrong.
 */
export function parsePrefs(text: string): Prefs {
  const view = parseJsonView(text, "the settings of tailscaled");
  return {
    controlUrl: view.optionalText("ControlURL") ?? "",
    wantRunning: view.flag("WantRunning"),
    loggedOut: view.flag("LoggedOut"),
    routeAll: view.flag("RouteAll"),
    corpDns: view.flag("CorpDNS"),
    shieldsUp: view.flag("ShieldsUp"),
    hostname: view.optionalText("Hostname") ?? "",
    advertiseRoutes: view.parsedTexts("AdvertiseRoutes", parsePrefix),
    advertiseTags: view.texts("AdvertiseTags"),
    noSnat: view.flag("NoSNAT"),
    noStatefulFiltering: view.optionalFlag("NoStatefulFiltering"),
    netfilterMode: NETFILTER_MODES[view.number("NetfilterMode")] ?? "on",
    operatorUser: view.optionalText("OperatorUser") ?? "",
    autoUpdateCheck: view.object("AutoUpdate")?.flag("Check") ?? false,
  };
}

/** Key on the wire, and the value there. */
type Encoder<T> = readonly [key: string, encode: (value: T) => unknown];

const asIs = (value: unknown) => value;

const ENCODERS: { readonly [K in keyof PrefsEdit]-?: Encoder<NonNullable<PrefsEdit[K]>> } = {
  controlUrl: ["ControlURL", asIs],
  wantRunning: ["WantRunning", asIs],
  routeAll: ["RouteAll", asIs],
  corpDns: ["CorpDNS", asIs],
  shieldsUp: ["ShieldsUp", asIs],
  hostname: ["Hostname", asIs],
  // Host bits are refused with 400.
  advertiseRoutes: ["AdvertiseRoutes", (routes) => routes.map((route) => `${route.masked()}`)],
  advertiseTags: ["AdvertiseTags", asIs],
  noSnat: ["NoSNAT", asIs],
  noStatefulFiltering: ["NoStatefulFiltering", asIs],
  netfilterMode: ["NetfilterMode", (mode) => NETFILTER_MODES.indexOf(mode)],
  operatorUser: ["OperatorUser", asIs],
  autoUpdateCheck: ["AutoUpdate", (check) => ({ Check: check })],
};

/** `edit` as `MaskedPrefs`: for each `X` there is an `XSet` that says it is meant. */
export function encodeEdit(edit: PrefsEdit): Readonly<Record<string, unknown>> {
  const encoded: Record<string, unknown> = {};
  for (const name of Object.keys(ENCODERS) as (keyof PrefsEdit)[]) {
    const value = edit[name];
    if (value === undefined) continue;
    const [key, encode] = ENCODERS[name] as Encoder<typeof value>;
    encoded[key] = encode(value);
    encoded[`${key}Set`] = name === "autoUpdateCheck" ? { CheckSet: true } : true;
  }
  return encoded;
}

/**
 * What of `wanted` differs from `current`: the edit that is left to do. Lists are compared as
 * sets, because tailscaled sorts them.
 *
 * @example
 * ```ts
 * import { parsePrefs, prefsDifference } from "./prefs.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const current = parsePrefs('{"RouteAll":true,"NoSNAT":false}');
 * assertEquals(prefsDifference(current, { routeAll: true, noSnat: true }), { noSnat: true });
 * ```
 */
export function prefsDifference(current: Prefs, wanted: PrefsEdit): PrefsEdit {
  const different = Object.entries(wanted).filter(([name, value]) => {
    return value !== undefined && canonical(current[name as keyof Prefs]) !== canonical(value);
  });
  return Object.fromEntries(different);
}

function canonical(value: unknown): string {
  return Array.isArray(value) ? value.map(String).sort().join(" ") : String(value);
}
