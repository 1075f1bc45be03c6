/** Several requests in one datagram, long lists, and lists that change while they are read. */

import { assertEquals, assertThrows } from "@std/assert";
import { parseAddress, parsePrefix, Prefix } from "../../lib/ip/mod.ts";
import { RTN_BLACKHOLE } from "../../lib/netlink/constants/rtnetlink.ts";
import {
  addRoute,
  addRule,
  createVeth,
  deleteLink,
  DumpInterruptedError,
  getLink,
  linkRequest,
  listLinks,
  listRoutes,
  listRules,
  NetlinkError,
  setLinkUp,
} from "../../lib/netlink/mod.ts";
import { decodeLink } from "../../lib/netlink/link_decode.ts";
import { requires, root } from "../requires.ts";
import { Sandbox } from "./fixture.ts";

const needs = requires(root);

Deno.test({
  ...needs,
  name: "a batch goes on after a failure and reports the first",
  fn() {
    using sandbox = new Sandbox();
    const { connection } = sandbox;
    const error = assertThrows(
      () =>
        connection.batch([
          createVeth({ name: "a", peer: { name: "b" } }),
          deleteLink({ name: "none1" }),
          setLinkUp({ name: "a" }),
          deleteLink({ name: "none2" }),
          setLinkUp({ name: "b" }),
        ]),
      NetlinkError,
    );
    assertEquals(error.message, "Cannot delete link none1: No such device (ENODEV)");
    assertEquals(getLink(connection, { name: "b" }).operState, "up");
    const outcomes = connection.exchange([
      linkRequest({ name: "a" }),
      deleteLink({ name: "none" }),
      linkRequest({ name: "b" }),
    ]);
    assertEquals(outcomes.map(({ error }) => error?.code), [undefined, "ENODEV", undefined]);
    const names = outcomes.flatMap(({ replies }) => replies.map(decodeLink)).map(({ name }) =>
      name
    );
    assertEquals(names, ["a", "b"]);
  },
});

Deno.test({
  ...needs,
  name: "a batch may hold more requests than one datagram, and as many failures",
  fn() {
    using sandbox = new Sandbox();
    const { connection } = sandbox;
    const first = parseAddress("10.0.0.0");
    const routes = Array.from({ length: 3000 }, (_, n) =>
      addRoute({
        destination: new Prefix(first.offset(BigInt(n) * 256n), 24),
        type: RTN_BLACKHOLE,
      }));
    connection.batch(routes);
    assertEquals(listRoutes(connection, { family: 4, table: 254 }).length, 3000);
    const again = connection.exchange(routes);
    assertEquals(again.filter(({ error }) => error?.code === "EEXIST").length, 3000);
    assertEquals(sandbox.ip("route", "show").length, 3000);
  },
});

Deno.test({
  ...needs,
  name: "rules past the first datagram are listed",
  fn() {
    using sandbox = new Sandbox();
    const { connection } = sandbox;
    connection.batch(
      Array.from({ length: 2000 }, (_, n) =>
        addRule({
          family: n % 2 === 0 ? 4 : 6,
          priority: 1000 + n,
          source: parsePrefix(n % 2 === 0 ? "10.0.0.0/8" : "fd00::/8"),
          table: 100,
        })),
    );
    const found = listRules(connection).filter(({ table }) => table === 100);
    assertEquals(found.length, 2000);
  },
});

Deno.test({
  ...needs,
  name: "a list that is read while another process changes it is whole or refused",
  async fn() {
    using sandbox = new Sandbox();
    const { connection } = sandbox;
    connection.batch(
      Array.from({ length: 300 }, (_, n) => createVeth({ name: `v${n}`, peer: { name: `w${n}` } })),
    );
    const churn = new Deno.Command("sh", {
      args: [
        "-c",
        `for i in $(seq 60); do ip -n ${sandbox.name} link add x$i type ifb 2>/dev/null ||
         ip -n ${sandbox.name} link set v$i alias x$i; done`,
      ],
    }).spawn();
    let over = false;
    const done = churn.status.then(() => {
      over = true;
    });
    const wanted = Array.from({ length: 300 }, (_, n) => `v${n}`);
    const missing = () => {
      const names = new Set(listLinks(connection).map(({ name }) => name));
      return wanted.filter((name) => !names.has(name));
    };
    while (!over) {
      try {
        assertEquals(missing(), []);
      } catch (error) {
        if (!(error instanceof DumpInterruptedError)) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    await done;
    assertEquals(missing(), []);
  },
});
