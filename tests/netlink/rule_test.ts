/** Rules and neighbours, compared with what `ip -json rule` and `ip -json neigh` say. */

import { assertEquals } from "@std/assert";
import { parseAddress, parsePrefix } from "../../lib/ip/mod.ts";
import {
  addNeighbour,
  addRule,
  createVeth,
  deleteNeighbour,
  deleteRule,
  getLink,
  listNeighbours,
  listRules,
  type Neighbour,
  replaceNeighbour,
  type Rule,
  setLinkUp,
} from "../../lib/netlink/mod.ts";
import { NUD_PERMANENT, NUD_STALE } from "../../lib/netlink/constants/neighbour.ts";
import { requires, root, tool } from "../requires.ts";
import { type Json, Sandbox } from "./fixture.ts";

const needs = requires(root, tool("ip", "iproute2"));
const TABLES: Readonly<Record<string, number>> = { local: 255, main: 254, default: 253 };

function oursRule(rule: Rule): Json {
  return {
    priority: rule.priority,
    source: rule.source === undefined ? "all" : `${rule.source}`,
    destination: rule.destination === undefined ? undefined : `${rule.destination}`,
    table: rule.table,
    mark: rule.mark,
    mask: rule.markMask === 0xffffffff ? undefined : rule.markMask,
    input: rule.inputName,
    output: rule.outputName,
    invert: rule.invert,
    suppress: rule.suppressPrefixLength,
  };
}

function theirsRule(rule: Json): Json {
  const prefix = (text?: string, length?: number) =>
    text === undefined || text === "all"
      ? text
      : `${text}/${length ?? (text.includes(":") ? 128 : 32)}`;
  return {
    priority: rule.priority,
    source: prefix(rule.src, rule.srclen),
    destination: prefix(rule.dst, rule.dstlen),
    table: TABLES[rule.table] ?? Number(rule.table),
    mark: rule.fwmark === undefined ? undefined : Number(rule.fwmark),
    mask: rule.fwmask === undefined ? undefined : Number(rule.fwmask),
    input: rule.iif,
    output: rule.oif,
    invert: rule.not !== undefined,
    suppress: rule.suppress_prefixlen,
  };
}

function assertSameRules(sandbox: Sandbox): void {
  for (const family of [4, 6] as const) {
    assertEquals(
      listRules(sandbox.connection, { family }).map(oursRule),
      sandbox.ip(`-${family}`, "rule", "show").map(theirsRule),
    );
  }
}

Deno.test({
  ...needs,
  name: "rules of both families look to ip as asked and go by priority",
  fn() {
    using sandbox = new Sandbox();
    const { connection } = sandbox;
    connection.batch([
      addRule({ family: 4, priority: 5105, destination: parsePrefix("10.244.0.0/16"), table: 254 }),
      addRule({ family: 4, priority: 5106, source: parsePrefix("10.1.0.7/32"), table: 51_820 }),
      addRule({ family: 4, priority: 5107, mark: 0x4000, markMask: 0xff00, table: 100 }),
      addRule({ family: 4, priority: 5108, inputName: "lo", outputName: "eth9", table: 100 }),
      addRule({ family: 4, priority: 5109, table: 254, suppressPrefixLength: 0 }),
      addRule({
        family: 4,
        priority: 5110,
        source: parsePrefix("10.9.0.0/16"),
        invert: true,
        table: 100,
      }),
      addRule({ family: 6, priority: 5105, destination: parsePrefix("fd00:244::/56"), table: 254 }),
    ]);
    assertSameRules(sandbox);
    connection.batch([
      deleteRule({ family: 4, priority: 5107 }),
      deleteRule({ family: 6, priority: 5105 }),
    ]);
    assertSameRules(sandbox);
    assertEquals(
      listRules(connection).filter(({ priority }) => priority >= 5100 && priority < 5200).length,
      5,
    );
  },
});

function oursNeighbour(neighbour: Neighbour): Json {
  return { address: `${neighbour.address}`, mac: neighbour.mac };
}

function theirsNeighbour(neighbour: Json): Json {
  return { address: neighbour.dst, mac: neighbour.lladdr };
}

Deno.test({
  ...needs,
  name: "neighbours of both families look to ip as asked",
  fn() {
    using sandbox = new Sandbox();
    const { connection } = sandbox;
    connection.batch([
      createVeth({ name: "a", peer: { name: "b" } }),
      setLinkUp({ name: "a" }),
      setLinkUp({ name: "b" }),
    ]);
    const { index } = getLink(connection, { name: "a" });
    const show = () => sandbox.ip("neigh", "show", "dev", "a").map(theirsNeighbour);
    const list = () =>
      listNeighbours(connection, { index })
        // What the kernel learns by itself is hidden by ip.
        .filter(({ mac, state }) => mac !== undefined && (state & (NUD_PERMANENT | NUD_STALE)) > 0)
        .filter(({ address }) => !address.isMulticast);
    const mac = "0a:58:0a:00:00:01";
    for (const text of ["10.1.0.1", "fd00::1"]) {
      const address = parseAddress(text);
      connection.execute(addNeighbour({ index, address, mac }));
    }
    assertEquals(list().map(oursNeighbour), show());
    assertEquals(list().map(({ state }) => state), [NUD_PERMANENT, NUD_PERMANENT]);
    const address = parseAddress("10.1.0.1");
    connection.execute(replaceNeighbour({ index, address, mac: "0a:58:0a:00:00:02" }));
    assertEquals(list().map(oursNeighbour), show());
    connection.execute(deleteNeighbour({ index, address }));
    assertEquals(show(), [{ address: "fd00::1", mac }]);
    assertEquals(list().map(oursNeighbour), show());
  },
});

Deno.test({
  ...needs,
  name: "proxy neighbours are added, listed and deleted",
  fn() {
    using sandbox = new Sandbox();
    const { connection } = sandbox;
    connection.batch([createVeth({ name: "a", peer: { name: "b" } }), setLinkUp({ name: "a" })]);
    const { index } = getLink(connection, { name: "a" });
    for (const text of ["10.1.0.1", "fd00::1"]) {
      const address = parseAddress(text);
      const family = address.family;
      const show = () => sandbox.ip(`-${family}`, "neigh", "show", "proxy").map(({ dst }) => dst);
      connection.execute(addNeighbour({ index, address, proxy: true }));
      assertEquals(show(), [text]);
      assertEquals(
        listNeighbours(connection, { family, proxy: true }).map((entry) => `${entry.address}`),
        [text],
      );
      connection.execute(deleteNeighbour({ index, address, proxy: true }));
      assertEquals(show(), []);
    }
  },
});
