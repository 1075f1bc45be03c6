import { assert, assertEquals } from "@std/assert";
import type { Prefix } from "../../ip/mod.ts";
import { NO_MEMORY, type Observed } from "./observed.ts";
import { type Plan, reconcile } from "./reconcile.ts";
import { EMPTY_RECORD } from "./record.ts";
import { describeStep } from "./step.ts";
import {
  desiredNode,
  headscaleNode,
  kernelView,
  observedNode,
  PODS,
  prefixes,
  tailnetNode,
  tailscaledView,
} from "./testing.ts";

const steps = (plan: Plan) => plan.steps.map(describeStep);
const codes = (plan: Plan) => plan.conditions.map(({ code }) => code);
const plan = (observed: Partial<Observed> = {}, desired = desiredNode()) =>
  reconcile(desired, observedNode(observed));
const running = (more: Parameters<typeof tailscaledView>[0]) => ({
  ok: true as const,
  value: tailscaledView(more),
});
const answers = (...nodes: ReturnType<typeof headscaleNode>[]) => ({
  ok: true as const,
  value: nodes,
});
const away = {
  ok: false as const,
  problem: { kind: "Unreachable", message: "Cannot list nodes: no answer", remedy: undefined },
};

Deno.test("a healthy node has nothing to do", () => {
  const result = plan();
  assertEquals([steps(result), codes(result), result.wantsHeadscale], [[], [], false]);
});

Deno.test("an empty node fails closed before it opens anything", () => {
  const node = kernelView({ rules: [], unreachable: [], forwards: [], tunnel: undefined });
  const filter = { isLoaded: false, tunnels: [], cluster: [] };
  const tailscaled = { ok: false as const, problem: { ...away.problem, kind: "NotRunning" } };
  const result = plan({ node, filter, tailscaled, headscale: undefined });
  assertEquals(steps(result), [
    "forward IPv4 packets",
    "forward IPv6 packets",
    "add unreachable route 10.244.1.0/24",
    "add unreachable route fd44:0:0:1::/64",
    "add unreachable route 10.244.0.0/16",
    "add unreachable route fd44::/48",
    "add rule 5105: to 10.244.1.0/24 lookup main",
    "add rule 5105: to fd44:0:0:1::/64 lookup main",
    "load the packet filter",
  ]);
  assertEquals(codes(result), ["TailscaledAway"]);
});

Deno.test("rules and routes of ours that are not wanted go, others' stay", () => {
  const rule = { family: 4 as const, table: 254, source: undefined, destination: undefined };
  const { rules } = kernelView();
  const node = kernelView({
    rules: [
      ...rules,
      { ...rule, priority: 5111, isOurs: true },
      { ...rule, priority: 5112, isOurs: false },
    ],
    unreachable: [...kernelView().unreachable, ...prefixes("10.9.0.0/16")],
  });
  assertEquals(steps(plan({ node })), [
    "delete unreachable route 10.9.0.0/16",
    "delete rule 5111: lookup main",
  ]);
});

Deno.test("settings are merged: routes of others stay", () => {
  const tailscaled = running({
    prefs: { advertiseRoutes: prefixes("192.168.7.0/24"), routeAll: false },
  });
  const { steps: [remember, edit] } = plan({ tailscaled });
  assert(remember?.do === "remember" && edit?.do === "editPrefs");
  assertEquals(remember.change.advertised?.map(String), PODS.map(String));
  assertEquals(remember.change.originalPrefs, { routeAll: false });
  assertEquals(edit.edit.advertiseRoutes?.map(String), ["192.168.7.0/24", ...PODS.map(String)]);
});

Deno.test("what was written down first is not overwritten", () => {
  const tailscaled = running({ prefs: { noSnat: false, routeAll: false } });
  const record = { ...EMPTY_RECORD, originalPrefs: { routeAll: true } };
  const { steps: [remember] } = plan({ tailscaled, record }, desiredNode({ mode: "host" }));
  assert(remember?.do === "remember");
  assertEquals(remember.change.originalPrefs, { routeAll: true, noSnat: false });
});

Deno.test("host mode: DNS, packet filter and name of the machine's tailscaled stay", () => {
  const tailscaled = running({ prefs: { corpDns: true, netfilterMode: "on", noSnat: false } });
  const desired = desiredNode({ mode: "host", tun: "tailscale0", hostname: "other" });
  const edits = plan({ tailscaled }, desired).steps.filter((step) => step.do === "editPrefs");
  assertEquals(edits, [{ do: "editPrefs", edit: { noSnat: true } }]);
});

Deno.test("a node that lost its login gets a key in daemon mode, a hint in host mode", () => {
  const tailscaled = running({ status: { state: "NeedsLogin", haveNodeKey: true } });
  const daemon = plan({ tailscaled });
  assertEquals([steps(daemon), codes(daemon)], [["log in to the tailnet"], ["LoginRunning"]]);
  const host = plan({ tailscaled }, desiredNode({ mode: "host" }));
  assertEquals([steps(host), codes(host)], [[], ["LoggedOut"]]);
});

Deno.test("no second key is minted while a login runs, or while Headscale is away", () => {
  const tailscaled = running({ status: { state: "NeedsLogin" } });
  const memory = { ...NO_MEMORY, loginSinceMs: 999_000 };
  assertEquals(steps(plan({ tailscaled, memory })), []);
  assertEquals(steps(plan({ tailscaled, headscale: away })), []);
  const late = { ...NO_MEMORY, loginSinceMs: 1 };
  assertEquals(steps(plan({ tailscaled, memory: late })), ["log in to the tailnet"]);
});

Deno.test("a minted key is shown once: with a key of its own, starting is enough", () => {
  const login = (haveNodeKey: boolean, loginSinceMs?: number) => {
    const tailscaled = running({ status: { state: "NeedsLogin", haveNodeKey } });
    const { steps: [step] } = plan({ tailscaled, memory: { ...NO_MEMORY, loginSinceMs } });
    return step?.do === "login" && step.interactive;
  };
  assertEquals([login(true), login(false), login(true, 1)], [false, true, true]);
});

Deno.test("tailscale down is undone in daemon mode and left to its author in host mode", () => {
  const tailscaled = running({ status: { state: "Stopped" }, prefs: { wantRunning: false } });
  assertEquals(steps(plan({ tailscaled })), ["change settings of tailscaled: wantRunning"]);
  const host = plan({ tailscaled }, desiredNode({ mode: "host" }));
  assertEquals([steps(host), codes(host)], [[], ["Stopped"]]);
});

Deno.test("only what is missing is approved, and only for our node and key", () => {
  const own = tailnetNode({ primaryRoutes: [] });
  const tailscaled = running({ status: { self: own } });
  const [pods4, pods6] = PODS as [Prefix, Prefix];
  const node = headscaleNode({ approved: [pods4], primary: [] });
  const result = plan({ tailscaled, headscale: answers(node) });
  assertEquals(steps(result), [
    "write down what will be changed",
    `approve in Headscale ${pods6}`,
  ]);
  const other = headscaleNode({ nodeKey: "nodekey:other", approved: [], primary: [] });
  const refused = plan({ tailscaled, headscale: answers(other) });
  assertEquals([steps(refused), codes(refused)], [[], ["NotOurNode"]]);
});

Deno.test("a revoked approval is seen although tailscaled was not told", () => {
  const headscale = answers(headscaleNode({ approved: [], primary: [] }));
  assertEquals(steps(plan({ headscale })).at(-1), `approve in Headscale ${PODS.join(", ")}`);
});

Deno.test("what Headscale uses counts although tailscaled was not told, until it is old", () => {
  const tailscaled = running({ status: { self: tailnetNode({ primaryRoutes: [] }) } });
  const fresh = plan({ tailscaled, memory: { ...NO_MEMORY, untoldSinceMs: 998_000 } });
  assertEquals([codes(fresh), fresh.wantsHeadscale], [[], false]);
  assertEquals(plan({ tailscaled }).wantsHeadscale, true);
});

Deno.test("approved and not in use: told after ten seconds, approved anew after thirty", () => {
  const tailscaled = running({ status: { self: tailnetNode({ primaryRoutes: [] }) } });
  const headscale = answers(headscaleNode({ primary: [] }));
  const after = (ms: number, nudgedAtMs?: number) => {
    const memory = { ...NO_MEMORY, notPrimarySinceMs: 1_000_000 - ms, nudgedAtMs };
    const result = plan({ tailscaled, headscale, memory });
    return [...codes(result), ...steps(result)];
  };
  assertEquals(after(1000), ["NotApproved"]);
  assertEquals(after(11_000), ["NotPrimary"]);
  assertEquals(after(31_000), ["NotPrimary", `approve anew in Headscale ${PODS.join(", ")}`]);
  assertEquals(after(31_000, 999_000), ["NotPrimary"]);
});

Deno.test("the same pod network on two nodes is told on both, and approved on one", () => {
  const second = headscaleNode({
    id: "2",
    nodeKey: "nodekey:two",
    givenName: "two",
    approved: [],
    primary: [],
  });
  const headscale = answers(headscaleNode(), second);
  const first = plan({ headscale });
  assertEquals([steps(first), codes(first)], [[], ["PrefixConflict", "PrefixConflict"]]);
  const own = tailnetNode({ id: "2", publicKey: "nodekey:two", primaryRoutes: [] });
  const late = plan({ headscale, tailscaled: running({ status: { self: own } }) });
  assertEquals([steps(late), codes(late)], [[], ["PrefixConflict", "PrefixConflict"]]);
});

Deno.test("approved by a policy in spite of a conflict: left to the node that has it", () => {
  const second = headscaleNode({ id: "2", nodeKey: "nodekey:two", givenName: "two", primary: [] });
  const own = tailnetNode({ id: "2", publicKey: "nodekey:two", primaryRoutes: [] });
  const tailscaled = running({ status: { self: own } });
  const headscale = answers(headscaleNode(), second);
  assertEquals(steps(plan({ headscale, tailscaled })), [
    "change settings of tailscaled: advertiseRoutes",
    `leave ${PODS.join(", ")} to the node that has it`,
    `take back the approval in Headscale of ${PODS.join(", ")}`,
  ]);
  const memory = { ...NO_MEMORY, yielded: PODS };
  const settled = running({ status: { self: own }, prefs: { advertiseRoutes: [] } });
  const quiet = answers(headscaleNode(), { ...second, approved: [], advertised: [] });
  assertEquals(steps(plan({ headscale: quiet, tailscaled: settled, memory })), []);
});

Deno.test("a node deleted in Headscale logs in again, once that is sure", () => {
  const first = plan({ headscale: answers() });
  assertEquals([steps(first), codes(first)], [[], ["UnknownNode"]]);
  const memory = { ...NO_MEMORY, unknownSinceMs: 990_000 };
  assertEquals(steps(plan({ headscale: answers(), memory })), ["log in to the tailnet"]);
  const host = plan({ headscale: answers(), memory }, desiredNode({ mode: "host" }));
  assertEquals(steps(host), []);
});

Deno.test("Headscale away: nothing is restarted, nothing is undone", () => {
  const result = plan({ headscale: away });
  assertEquals([steps(result), codes(result)], [[], ["HeadscaleAway"]]);
  const broken = plan({ headscale: away, node: kernelView({ tunnel: undefined }) });
  assertEquals([steps(broken), codes(broken)], [[], ["HeadscaleAway", "NoTunnel"]]);
  const back = plan({ node: kernelView({ tunnel: undefined }) });
  assertEquals(steps(back), ["restart our tailscaled"]);
});

Deno.test("the policy is looked at once, before a login; what cannot be added is told", () => {
  const desired = desiredNode({ policy: { tag: "tag:k8s-node", prefixes: PODS } });
  const tailscaled = running({ status: { state: "NeedsLogin" } });
  assertEquals(steps(plan({ tailscaled }, desired)), [
    "see that the policy of Headscale allows it",
    "log in to the tailnet",
  ]);
  const lacks = { ...NO_MEMORY, policyLacks: ["an owner of tag:k8s-node"] };
  const told = plan({ memory: lacks }, desired);
  assertEquals([steps(told), codes(told)], [[], ["PolicyLacks"]]);
  assertEquals(codes(plan({ memory: { ...NO_MEMORY, policyLacks: [] } }, desired)), []);
});

Deno.test("without a base, routes of peers are learned and stay while their node is away", () => {
  const desired = desiredNode({ base: [] });
  const filter = { ...observedNode().filter, cluster: [] };
  const node = kernelView({ unreachable: PODS });
  const far = prefixes("10.244.2.0/24");
  const peers = [
    tailnetNode({ id: "2", primaryRoutes: [...far, ...prefixes("0.0.0.0/0", "100.64.0.0/16")] }),
  ];
  const seen = plan({ node, filter, tailscaled: running({ status: { peers } }) }, desired);
  assertEquals(steps(seen), [
    "write down what will be changed",
    "add unreachable route 10.244.2.0/24",
    "do not masquerade to 10.244.1.0/24, fd44:0:0:1::/64, 10.244.2.0/24",
  ]);
  const record = { ...EMPTY_RECORD, learned: far };
  const learnedOf = (headscale: Observed["headscale"]) =>
    steps(
      plan({ node: kernelView({ unreachable: [...PODS, ...far] }), record, headscale }, desired),
    )
      .filter((step) => step.includes("unreachable"));
  assertEquals(learnedOf(away), []);
  assertEquals(learnedOf(answers(headscaleNode(), headscaleNode({ id: "2", approved: far }))), []);
  assertEquals(learnedOf(answers(headscaleNode())), ["delete unreachable route 10.244.2.0/24"]);
});
