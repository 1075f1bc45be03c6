/** Token buckets and redirection, compared with what `tc -json` says. */

import { assertEquals } from "@std/assert";
import { createIfb, createVeth, getLink, setLinkUp } from "../../lib/netlink/mod.ts";
import { TC_H_INGRESS } from "../../lib/netlink/constants/pkt_sched.ts";
import { listIngressFilters, redirectIngress } from "../../lib/netlink/filter.ts";
import {
  addIngress,
  addTokenBucket,
  deleteQdisc,
  listQdiscs,
  replaceTokenBucket,
} from "../../lib/netlink/qdisc.ts";
import { kernel, requires, root, tool } from "../requires.ts";
import { only, Sandbox } from "./fixture.ts";

const needs = requires(
  root,
  tool("tc", "iproute2"),
  kernel("ifb, tbf, ingress or mirred", hasTrafficControl),
);

function hasTrafficControl(): boolean {
  if (Deno.uid() !== 0) return false;
  using sandbox = new Sandbox();
  const { connection } = sandbox;
  connection.execute(createVeth({ name: "a", peer: { name: "b" } }));
  const { index } = getLink(connection, { name: "a" });
  return connection.exchange([
    createIfb({ name: "ifb9" }),
    addTokenBucket({ index, rateBytesPerSecond: 1e6, burstBytes: 10_000, latencyMs: 25 }),
    addIngress(index),
    redirectIngress(index, index),
  ]).every(({ error }) => error === undefined);
}

Deno.test({
  ...needs,
  name: "a token bucket looks to tc as asked, is replaced and deleted",
  fn() {
    using sandbox = new Sandbox();
    const { connection } = sandbox;
    connection.execute(createVeth({ name: "a", peer: { name: "b" } }));
    const { index } = getLink(connection, { name: "a" });
    const show = () => only(sandbox.tc("qdisc", "show", "dev", "a", "root"));
    const mine = () => only(listQdiscs(connection, { index }));
    const spec = { index, burstBytes: 32_000, latencyMs: 25 };
    connection.execute(
      addTokenBucket({ ...spec, rateBytesPerSecond: 1_250_000, handle: 0x10000 }),
    );
    const shown = show();
    assertEquals([shown.kind, shown.handle, shown.options.rate], ["tbf", "1:", 1_250_000]);
    assertEquals(shown.options.burst, 32_000);
    assertEquals(Math.round(shown.options.lat / 1000), 25);
    assertEquals(mine().tokenBucket, {
      rateBytesPerSecond: 1_250_000,
      burstBytes: 32_000,
      limitBytes: 1_250_000 * 0.025 + 32_000,
    });
    connection.execute(
      replaceTokenBucket({ ...spec, rateBytesPerSecond: 5_000_000_000, latencyMs: 1 }),
    );
    assertEquals(show().options.rate, 5_000_000_000);
    assertEquals(mine().tokenBucket?.rateBytesPerSecond, 5_000_000_000);
    connection.execute(deleteQdisc(index));
    const kinds = listQdiscs(connection, { index }).map(({ kind }) => kind);
    assertEquals(kinds, sandbox.tc("qdisc", "show", "dev", "a", "root").map(({ kind }) => kind));
    assertEquals(kinds.includes("tbf"), false);
  },
});

Deno.test({
  ...needs,
  name: "what arrives on a link is redirected to an ifb and shaped there",
  fn() {
    using sandbox = new Sandbox();
    const { connection } = sandbox;
    connection.batch([
      createVeth({ name: "a", peer: { name: "b" } }),
      createIfb({ name: "ifb9" }),
      setLinkUp({ name: "ifb9" }),
    ]);
    const from = getLink(connection, { name: "a" }).index;
    const to = getLink(connection, { name: "ifb9" }).index;
    connection.batch([
      addIngress(from),
      redirectIngress(from, to),
      addTokenBucket({ index: to, rateBytesPerSecond: 1e6, burstBytes: 32_000, latencyMs: 25 }),
    ]);
    assertEquals(
      listQdiscs(connection, { index: from }).map(({ kind }) => kind),
      sandbox.tc("qdisc", "show", "dev", "a").map(({ kind }) => kind),
    );
    const shown = sandbox.tc("filter", "show", "dev", "a", "ingress");
    const action = shown.flatMap((filter) => filter.options?.actions ?? []);
    assertEquals(
      [only(action).kind, only(action).mirred_action, only(action).direction, only(action).to_dev],
      ["mirred", "redirect", "egress", "ifb9"],
    );
    const redirects = listIngressFilters(connection, from)
      .filter(({ redirectTo }) => redirectTo !== undefined);
    assertEquals(only(redirects).redirectTo, to);
    connection.execute(deleteQdisc(from, TC_H_INGRESS));
    assertEquals(sandbox.tc("filter", "show", "dev", "a", "ingress"), []);
  },
});
