/** Loading the ruleset: once, again, over another version, after an accident, many at once. */

import { assertEquals, assertGreater, assertRejects } from "@std/assert";
import {
  addPod,
  FirewallError,
  isRulesetLoaded,
  podDifferences,
  removeAll,
  RULESET,
  type Ruleset,
  setClusterNetworks,
} from "../../lib/firewall/mod.ts";
import { ensureRuleset } from "../../lib/firewall/mod.ts";
import { parsePrefix } from "../../lib/ip/mod.ts";
import { requires, root, tool } from "../requires.ts";
import { Filter, pod } from "./filter.ts";
import { ADDRESS, endpoint, podRules, TestNode } from "./node.ts";
import { openTransport } from "./sockets.ts";

const needs = requires(root, tool("ip", "iproute2"), tool("nft", "nftables"));

/** What a future or past version may look like: another priority, other chains, other sets. */
const OTHER_TABLES: Ruleset["tables"] = RULESET.tables.map((table) => ({
  ...table,
  sets: [...table.sets, { name: "other_set", key: ["ifname"] }],
  chains: [
    ...table.chains.map((chain) =>
      chain.name === "from_pods" && chain.hook !== undefined
        ? {
          ...chain,
          hook: { ...chain.hook, priority: chain.hook.priority - 7 },
          rules: [{ text: "jump other_chain", why: "another version" }, ...chain.rules],
        }
        : chain
    ),
    { name: "other_chain", rules: [{ text: "iifname @other_set counter", why: "other" }] },
  ],
}));

const OTHER_VERSION: Ruleset = { fingerprint: "0ld", tables: OTHER_TABLES };

Deno.test({
  ...needs,
  name: "the ruleset is loaded once; after that no program is run",
  async fn() {
    using filter = new Filter();
    assertEquals(isRulesetLoaded(filter.connection), false);
    assertEquals(await filter.load(), "loaded");
    assertEquals(isRulesetLoaded(filter.connection), true);
    assertEquals(isRulesetLoaded(filter.connection, { quick: true }), true);
    assertEquals(await filter.load(), "current");
    assertEquals(filter.runs, 1);
  },
});

const WHOLE_TABLES: readonly string[] = [
  "flush ruleset",
  "delete table inet headcni",
  "delete table arp headcni",
  "flush table inet headcni",
  "flush table arp headcni",
];

const ACCIDENTS: readonly string[] = [
  ...WHOLE_TABLES,
  "flush chain inet headcni host_ports",
  "flush chain inet headcni forward; delete chain inet headcni forward",
  "flush chain inet headcni forward; delete set inet headcni tunnels",
  "add rule inet headcni check_pod accept",
  "insert rule inet headcni forward counter",
];

for (const accident of ACCIDENTS) {
  Deno.test({
    ...needs,
    name: `"nft ${accident}" is found and repaired`,
    async fn() {
      using filter = new Filter();
      await filter.load();
      addPod(filter.connection, pod(7));
      const before = rules(filter);
      filter.nft(accident);
      assertEquals(isRulesetLoaded(filter.connection), false);
      const found = !isRulesetLoaded(filter.connection, { quick: true });
      assertEquals(found, WHOLE_TABLES.includes(accident));
      assertEquals(await filter.load(RULESET, { knownPods: () => [pod(7)] }), "loaded");
      assertEquals(podDifferences(filter.connection, pod(7)), []);
      assertEquals(rules(filter), before);
    },
  });
}

/** All but the elements. Tables and sets come in the order they were made in: sorted. */
function rules(filter: Filter): string[] {
  return filter.nft("--terse", "list", "ruleset").split("\n").sort();
}

Deno.test({
  ...needs,
  name: "another version is replaced in one step, and the elements stay",
  async fn() {
    using filter = new Filter();
    await filter.load(OTHER_VERSION);
    assertEquals(isRulesetLoaded(filter.connection), false);
    assertEquals(isRulesetLoaded(filter.connection, { quick: true }), false);
    addPod(filter.connection, pod(7));
    setClusterNetworks(filter.connection, [parsePrefix("10.244.0.0/16"), parsePrefix("fd00::/16")]);
    assertEquals(await filter.load(), "loaded");
    assertEquals(podDifferences(filter.connection, pod(7)), []);
    const upgraded = filter.nft("list", "ruleset");
    assertEquals(upgraded.includes("other"), false);
    assertEquals(upgraded.includes("10.244.0.0/16"), true);
    assertEquals(await filter.load(OTHER_VERSION), "loaded");
    assertEquals(podDifferences(filter.connection, pod(7)), []);
    await filter.load();
    assertEquals(filter.nft("list", "ruleset"), upgraded);
  },
});

Deno.test({
  ...needs,
  name: "fifty loads at once, each followed by a pod, lose nothing",
  async fn() {
    using filter = new Filter();
    await filter.load(OTHER_VERSION);
    const numbers = Array.from({ length: 50 }, (_, index) => index + 1);
    await Promise.all(numbers.map(async (number) => {
      using connection = filter.sandbox.netfilter();
      await ensureRuleset(connection, { run: filter.run });
      addPod(connection, pod(number));
    }));
    assertEquals(isRulesetLoaded(filter.connection), true);
    const differences = numbers.flatMap((number) => podDifferences(filter.connection, pod(number)));
    assertEquals(differences, []);
  },
});

Deno.test({
  ...needs,
  name: "while one version replaces another, nothing forged passes and nothing else is lost",
  async fn() {
    using node = new TestNode();
    await node.load();
    addPod(node.netfilter, podRules("alpha"));
    node.at("alpha").run("ip", "address", "add", "10.244.3.99/32", "dev", "eth0");
    const to = endpoint(ADDRESS.remote[4], 7000);
    using server = openTransport(node.at("remote").netns, "udp", 4).bind(to);
    const from = (address: string) =>
      openTransport(node.at("alpha").netns, "udp", 4).bind(endpoint(address, 0));
    // The pod learns its gateway's address: it would ask for it in the name of a forged sender.
    using first = from(ADDRESS.alpha[4]);
    first.send(Uint8Array.of(0), to);
    assertEquals(server.receive()?.bytes, Uint8Array.of(0));
    let loading = true;
    const loads = (async () => {
      for (let turn = 0; turn < 10; turn++) {
        await node.load({ ruleset: turn % 2 === 0 ? OTHER_VERSION : RULESET });
      }
      loading = false;
    })();
    const seen = new Map<string | undefined, number>();
    let sent = 0;
    while (loading) {
      using forged = from("10.244.3.99");
      forged.send(Uint8Array.of(1), to);
      // A new flow each time: translation is decided for the first packet.
      using honest = from(ADDRESS.alpha[4]);
      honest.send(Uint8Array.of(2), to);
      sent++;
      const source = server.receive()?.from.address.toString();
      seen.set(source, (seen.get(source) ?? 0) + 1);
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    await loads;
    assertEquals([...seen], [[ADDRESS.node[4], sent]]);
    assertGreater(sent, 20);
  },
});

Deno.test({
  ...needs,
  name: "a set of another type under our name is an error that says what to do",
  async fn() {
    using filter = new Filter();
    filter.nft("add table inet headcni; add set inet headcni source4 { type inet_service; }");
    const error = await assertRejects(() => filter.load(), FirewallError, "datatype mismatch");
    assertEquals(error.remedy?.includes("nft delete table inet headcni"), true);
    assertEquals(filter.nft("list", "ruleset").includes("chain"), false);
  },
});

Deno.test({
  ...needs,
  name: "removing everything leaves nothing of ours, and is done twice",
  async fn() {
    using filter = new Filter();
    filter.nft("add table ip nat; add chain ip nat mine");
    const before = filter.nft("list", "ruleset");
    await filter.load();
    addPod(filter.connection, pod(7));
    removeAll(filter.connection);
    removeAll(filter.connection);
    assertEquals(filter.nft("list", "ruleset"), before);
  },
});
