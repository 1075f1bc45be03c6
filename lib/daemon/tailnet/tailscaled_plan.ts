/** What tailscaled should be told: pure decisions. */

import type { Prefix } from "../../ip/mod.ts";
import { mergeApproved as union } from "../../headscale/mod.ts";
import { type Prefs, prefsDifference, type PrefsEdit } from "../../tailscale/mod.ts";
import { has, minus } from "./cluster.ts";
import { type Condition, condition } from "./condition.ts";
import type { Desired } from "./desired.ts";
import type { Observed, TailscaledView } from "./observed.ts";
import type { OriginalPrefs, TailnetRecord } from "./record.ts";
import type { Step } from "./step.ts";

/** What pods need of any tailscaled, ours or the machine's. */
const NEEDED = { routeAll: true, noSnat: true, noStatefulFiltering: true } as const;

/** Settings of our own: it touches neither the node's DNS nor its packet filter. */
const OWN = {
  ...NEEDED,
  corpDns: false,
  netfilterMode: "off",
  shieldsUp: false,
  autoUpdateCheck: false,
} as const;

/** A login that takes longer has failed. */
export const LOGIN_LIMIT_MS = 20_000;
const WEEK_MS = 7 * 24 * 3_600_000;
/** A tailscaled whose interface is gone is not restarted more often. */
const RESTART_PAUSE_MS = 30_000;

/** What is left to change in the settings so that `mine` is advertised. */
export function prefsEdit(
  desired: Desired,
  prefs: Prefs,
  mine: readonly Prefix[],
): PrefsEdit {
  const given = minus(desired.prefixes, mine);
  const wanted: PrefsEdit = {
    ...(desired.mode === "host" ? NEEDED : OWN),
    ...(desired.mode === "host" || desired.hostname === undefined
      ? {}
      : { hostname: desired.hostname }),
    advertiseRoutes: union(minus(prefs.advertiseRoutes, given), mine),
  };
  return prefsDifference(prefs, wanted);
}

/** The steps that change settings, with what must be written down before. */
export function planPrefs(
  desired: Desired,
  view: TailscaledView,
  context: { readonly mine: readonly Prefix[]; readonly record: TailnetRecord },
): Step[] {
  const { prefs } = view;
  const { mine, record } = context;
  const edit = prefsEdit(desired, prefs, mine);
  if (Object.keys(edit).length === 0) return [];
  const added = minus(mine, prefs.advertiseRoutes);
  const advertised = union(record.advertised, added);
  const originalPrefs = { ...changedPrefs(edit, prefs), ...record.originalPrefs };
  const isKnown = advertised.length === record.advertised.length &&
    Object.keys(originalPrefs).length === Object.keys(record.originalPrefs).length;
  return [
    ...(isKnown ? [] : [{ do: "remember", change: { advertised, originalPrefs } } as const]),
    { do: "editPrefs", edit },
  ];
}

/** Values, before `edit`, of what leaving puts back. */
function changedPrefs(edit: PrefsEdit, prefs: Prefs): OriginalPrefs {
  const { routeAll, noSnat } = prefs;
  return {
    ...(edit.routeAll === undefined ? {} : { routeAll }),
    ...(edit.noSnat === undefined ? {} : { noSnat }),
    // Unset is its own choice, which today is not to filter; false is what it can be set to.
    ...(edit.noStatefulFiltering === undefined
      ? {}
      : { noStatefulFiltering: prefs.noStatefulFiltering ?? false }),
  };
}

/** What stands between tailscaled and the state `Running`, or what is wrong with it there. */
export function judgeBackend(
  desired: Desired,
  view: TailscaledView,
  observed: Observed,
): { readonly isRunning: boolean; readonly conditions: Condition[]; readonly steps: Step[] } {
  const { status } = view;
  switch (status.state) {
    case "Running":
      return { isRunning: true, ...judgeRunning(desired, view, observed) };
    case "Stopped":
      return { isRunning: false, ...judgeStopped(desired) };
    case "NeedsLogin":
    case "NeedsMachineAuth":
      return { isRunning: false, ...judgeLoggedOut(desired, view, observed) };
    default:
      return { isRunning: false, steps: [], conditions: [starting(view)] };
  }
}

function starting({ status }: TailscaledView): Condition {
  const said = status.health.length === 0 ? "" : `; it says: ${status.health.join("; ")}`;
  return condition(
    "TailscaledStarting",
    `tailscaled is in state ${status.state}${said}`,
    "If it stays: it needs a relay (DERP) or a peer it can reach; tailscale netcheck",
  );
}

function judgeStopped(desired: Desired): { conditions: Condition[]; steps: Step[] } {
  if (desired.mode === "daemon") {
    return {
      conditions: [
        condition("Stopped", "our tailscaled was told to be down; it is told otherwise"),
      ],
      steps: [{ do: "editPrefs", edit: { wantRunning: true } }],
    };
  }
  const message = "somebody told the machine's tailscaled to be down (tailscale down)";
  return { conditions: [condition("Stopped", message, "tailscale up")], steps: [] };
}

function judgeLoggedOut(
  desired: Desired,
  view: TailscaledView,
  observed: Observed,
): { conditions: Condition[]; steps: Step[] } {
  if (desired.mode === "host") {
    const remedy = `tailscale up --login-server=${desired.controlUrl}`;
    const message = "the machine's tailscaled is not logged in, or its key has expired";
    return { conditions: [condition("LoggedOut", message, remedy)], steps: [] };
  }
  return { conditions: [loginCondition(observed)], steps: loginSteps(desired, view, observed) };
}

function loginCondition({ headscale }: Pick<Observed, "headscale">): Condition {
  return headscale?.ok === false
    ? condition("LoggedOut", "the node has to log in, and Headscale does not answer")
    : condition("LoginRunning", "the node is logging in with a key minted for it");
}

/** Logs in, unless a login runs or Headscale is away. */
export function loginSteps(desired: Desired, view: TailscaledView, observed: Observed): Step[] {
  const { headscale, memory, nowMs } = observed;
  const runs = memory.loginSinceMs !== undefined && nowMs - memory.loginSinceMs < LOGIN_LIMIT_MS;
  if (headscale?.ok !== true || runs) return [];
  const edit = {
    ...prefsEdit(desired, view.prefs, desired.prefixes),
    controlUrl: desired.controlUrl,
    wantRunning: true,
  };
  // With a key of its own, tailscaled shows the minted one as soon as it starts; told to log in
  // as well, it shows it twice, and the second time it is used up. Should the key of its own be
  // refused, the next attempt makes a new one.
  const interactive = !view.status.haveNodeKey || memory.loginSinceMs !== undefined;
  return [{ do: "login", edit, interactive }];
}

function judgeRunning(
  desired: Desired,
  view: TailscaledView,
  observed: Observed,
): { conditions: Condition[]; steps: Step[] } {
  const { status, prefs } = view;
  const { nowMs, memory, headscale } = observed;
  const conditions: Condition[] = [];
  const steps: Step[] = [];
  const isolated = desired.isolation === "netns";
  const kernel = isolated ? observed.room?.kernel : observed.node;
  if (!status.tun) {
    const remedy = `Run tailscaled with --tun=${desired.tun}, not userspace-networking`;
    conditions.push(condition("UserspaceOnly", "tailscaled uses no kernel interface", remedy));
  } else if (kernel?.tunnel === undefined) {
    conditions.push(noTunnel(desired));
    const rested = nowMs - (memory.restartedAtMs ?? -Infinity) >= RESTART_PAUSE_MS;
    // While Headscale is away a tailscaled that starts has no map and stays dumb.
    if (desired.mode === "daemon" && headscale?.ok === true && rested) {
      steps.push({ do: "restartTailscaled" });
    }
  }
  if (prefs.shieldsUp && desired.mode === "host") {
    const message = "tailscaled lets nothing in, so pods of other nodes cannot call pods here";
    conditions.push(condition("ShieldsUp", message, "tailscale set --shields-up=false"));
  }
  const expiry = status.self.keyExpiryMs;
  if (expiry !== undefined && expiry - observed.wallMs < WEEK_MS) {
    const message = `the node's key expires on ${new Date(expiry).toISOString()}`;
    const remedy = desired.mode === "daemon"
      ? "Nothing: it logs in again by itself then; headscale nodes expire --disable ends it"
      : "tailscale up --force-reauth, or on the server: headscale nodes expire --disable";
    conditions.push(condition("KeyExpires", message, remedy));
  }
  return { conditions, steps };
}

function noTunnel(desired: Desired): Condition {
  return condition(
    "NoTunnel",
    `there is no interface ${desired.tun}`,
    desired.mode === "daemon"
      ? "It is restarted by itself, once Headscale answers"
      : "systemctl restart tailscaled; if it uses another name: tailscale.tun",
  );
}

/** Our prefixes that nobody sends here yet. */
export function notRouted(view: TailscaledView, mine: readonly Prefix[]): readonly Prefix[] {
  const { primaryRoutes } = view.status.self;
  return mine.filter((prefix) => !has(primaryRoutes, prefix));
}
