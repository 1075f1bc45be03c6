/** Pods that come back with the rules, in one transaction. */

import { assertEquals } from "@std/assert";
import {
  addPod,
  establishPod,
  isRulesetLoaded,
  podDifferences,
  type PodRules,
  RULESET,
} from "../../lib/firewall/mod.ts";
import { requires, root, tool } from "../requires.ts";
import { Filter, pod } from "./filter.ts";

const needs = requires(root, tool("ip", "iproute2"), tool("nft", "nftables"));

for (
  const accident of [
    "flush ruleset",
    "flush chain inet headcni to_outside; flush chain " +
    "inet headcni postrouting; delete set inet headcni masquerade4",
  ]
) {
  Deno.test({
    ...needs,
    name: `the next pod after "nft ${accident}" brings back all that is known`,
    async fn() {
      using filter = new Filter();
      let asked = 0;
      const knownPods = () => {
        asked++;
        return [pod(7), pod(8)];
      };
      const options = { run: filter.run, knownPods };
      await establishPod(filter.connection, pod(7), options);
      await establishPod(filter.connection, pod(8), options);
      assertEquals([asked, filter.runs], [1, 1]);
      filter.nft(accident);
      await establishPod(filter.connection, pod(9), options);
      assertEquals([asked, filter.runs], [2, 2]);
      for (const number of [7, 8, 9]) {
        assertEquals(podDifferences(filter.connection, pod(number)), []);
      }
      assertEquals(isRulesetLoaded(filter.connection), true);
    },
  });
}

Deno.test({
  ...needs,
  name: "rules and the elements of 2,000 pods are one transaction",
  async fn() {
    using filter = new Filter();
    const pods = Array.from({ length: 2000 }, (_, index) => pod(index + 1));
    await filter.load(RULESET, { knownPods: () => pods });
    assertEquals(filter.runs, 1);
    assertEquals(pods.flatMap((one) => podDifferences(filter.connection, one)), []);
    // All is there: what is loaded over it has nothing to add, and nothing is lost.
    filter.nft("flush table inet headcni");
    await filter.load(RULESET, { knownPods: () => pods });
    assertEquals(pods.flatMap((one) => podDifferences(filter.connection, one)), []);
  },
});

Deno.test({
  ...needs,
  name: "loading takes elements of known pods that are wrong, and leaves those of unknown ones",
  async fn() {
    using filter = new Filter();
    await filter.load();
    const port = (hostPort: number): PodRules["hostPorts"] => [
      { protocol: "tcp", hostPort, containerPort: 80 },
    ];
    addPod(filter.connection, { ...pod(1), hostPorts: port(80) });
    addPod(filter.connection, { ...pod(2), hostPorts: port(81) });
    filter.nft("flush table inet headcni");
    const failures: string[] = [];
    const known = [
      pod(1), // it has no port any more; what it had is its own
      { ...pod(3), hostPorts: [...port(80), ...port(81)] },
    ];
    await filter.load(RULESET, {
      knownPods: () => known,
      onFailure: ({ message }) => failures.push(message),
    });
    assertEquals(failures, [
      "Cannot map host port tcp 81 to hcni3: it leads to 10.244.3.2 port 80 (hcni2)",
      "Cannot map host port tcp 81 to hcni3: it leads to fd00:3::2 port 80 (hcni2)",
    ]);
    assertEquals(podDifferences(filter.connection, { ...pod(2), hostPorts: port(81) }), []);
    assertEquals(podDifferences(filter.connection, { ...pod(3), hostPorts: port(80) }), []);
  },
});
