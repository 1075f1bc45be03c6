import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { expectedChains, renderLoad, renderRuleset, renderTables } from "./render.ts";
import { RULESET } from "./ruleset.ts";

const GOLDEN = new URL("../../tests/fixtures/firewall/ruleset.nft", import.meta.url);

Deno.test("the ruleset reads as in the golden file", () => {
  const text = renderRuleset(RULESET);
  if (Deno.env.get("HEADCNI_UPDATE_GOLDEN") === "1") Deno.writeTextFileSync(GOLDEN, text);
  assertEquals(text, Deno.readTextFileSync(GOLDEN), "HEADCNI_UPDATE_GOLDEN=1 writes it anew");
});

Deno.test("every rule carries a reason that nft accepts", () => {
  for (const { chains } of RULESET.tables) {
    for (const { rules } of chains) {
      for (const { why } of rules) assertMatch(why, /^[^"]{1,128}$/);
    }
  }
});

Deno.test("the fingerprint belongs to the text", async () => {
  const bytes = new TextEncoder().encode(renderTables(RULESET.tables));
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex().slice(0, 8);
  assertEquals(RULESET.fingerprint, hash, `the ruleset changed: write "${hash}" into ruleset.ts`);
});

Deno.test("a chain is expected to be used by its rules and by the jumps to it", () => {
  const uses = (name: string) => {
    return expectedChains(RULESET).find(({ chain, family }) => chain === name && family === "inet")
      ?.uses;
  };
  assertEquals([uses("from_pods"), uses("host_ports"), uses("to_outside")], [1, 4 + 2, 5 + 2]);
});

Deno.test("loading flushes rules before chains go, and touches no table but ours", () => {
  const script = renderLoad(RULESET, [
    { family: "inet", chains: ["old"], sets: ["gone", "source4"] },
  ]);
  const lines = script.split("\n");
  const at = (line: string) => {
    const index = lines.indexOf(line);
    assertNotEquals(index, -1, line);
    return index;
  };
  const order = [
    at("add table inet headcni"),
    at("add chain inet headcni old"),
    at("flush table inet headcni"),
    at("delete chain inet headcni old"),
    at("delete set inet headcni gone"),
    at("table inet headcni {"),
  ];
  assertEquals(order, order.toSorted((a, b) => a - b));
  assertEquals(lines.includes("delete set inet headcni source4"), false);
  const tables = lines.flatMap((line) =>
    /^(?:add |delete |flush )?(?:table|chain|set) (\w+ \w+)/.exec(line)?.[1] ?? []
  );
  assertEquals([...new Set(tables)], ["inet headcni", "arp headcni"]);
});
