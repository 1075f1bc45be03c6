/** Addresses, compared with what `ip -json addr` says. */

import { assertEquals } from "@std/assert";
import { parseAddress, parsePrefix } from "../../lib/ip/mod.ts";
import { RT_SCOPE_HOST, RT_SCOPE_LINK } from "../../lib/netlink/constants/rtnetlink.ts";
import {
  addAddress,
  type Address,
  createVeth,
  deleteAddress,
  getLink,
  listAddresses,
  replaceAddress,
  setLinkUp,
} from "../../lib/netlink/mod.ts";
import { requires, root, tool } from "../requires.ts";
import { type Json, Sandbox } from "./fixture.ts";

const needs = requires(root, tool("ip", "iproute2"));
const SCOPES: Readonly<Record<number, string>> = { 0: "global", 253: "link", 254: "host" };

function ours(address: Address): Json {
  return {
    text: `${address.address}`,
    peer: address.peer === undefined ? undefined : `${address.peer}`,
    scope: SCOPES[address.scope],
    noPrefixRoute: address.noPrefixRoute,
    label: address.label,
    broadcast: address.broadcast === undefined ? undefined : `${address.broadcast}`,
    tentative: address.tentative,
  };
}

function theirs(info: Json): Json {
  return {
    text: `${info.local}/${info.prefixlen}`,
    peer: info.address,
    scope: info.scope,
    noPrefixRoute: info.noprefixroute ?? false,
    label: info.label,
    broadcast: info.broadcast,
    tentative: info.tentative ?? false,
  };
}

/** A sandbox with link `a` up, and its index. */
function withLink(): { sandbox: Sandbox; index: number } {
  const sandbox = new Sandbox();
  const { connection } = sandbox;
  connection.batch([
    createVeth({ name: "a", peer: { name: "b" } }),
    setLinkUp({ name: "a" }),
    setLinkUp({ name: "b" }),
  ]);
  return { sandbox, index: getLink(connection, { name: "a" }).index };
}

function assertSameAddresses(sandbox: Sandbox, index: number): void {
  const [link] = sandbox.ip("addr", "show", "dev", "a");
  assertEquals(
    listAddresses(sandbox.connection, { index }).map(ours),
    link?.addr_info.map(theirs),
  );
}

Deno.test({
  ...needs,
  name: "addresses of both families with every flag look to ip as asked",
  fn() {
    const { sandbox, index } = withLink();
    using _ = sandbox;
    sandbox.connection.batch([
      addAddress({ index, address: parsePrefix("10.1.0.2/24"), noPrefixRoute: true }),
      addAddress({
        index,
        address: parsePrefix("10.2.0.2/24"),
        broadcast: parseAddress("10.2.0.255"),
        label: "a:1",
      }),
      addAddress({ index, address: parsePrefix("10.3.0.2/32"), peer: parseAddress("10.3.0.1") }),
      addAddress({ index, address: parsePrefix("169.254.1.1/32"), scope: RT_SCOPE_LINK }),
      addAddress({ index, address: parsePrefix("10.4.0.1/32"), scope: RT_SCOPE_HOST }),
      addAddress({
        index,
        address: parsePrefix("fd00:1::2/64"),
        noPrefixRoute: true,
        noDad: true,
      }),
      addAddress({ index, address: parsePrefix("fd00:2::2/128"), peer: parseAddress("fd00:2::1") }),
      addAddress({ index, address: parsePrefix("fe80::1/64"), scope: RT_SCOPE_LINK, noDad: true }),
    ]);
    assertSameAddresses(sandbox, index);
    const flags = (text: string) => {
      const all = sandbox.ip("addr", "show", "dev", "a")[0]?.addr_info as Json[];
      return all.find((info) => info.local === text) ?? {};
    };
    assertEquals(flags("10.1.0.2").noprefixroute, true);
    assertEquals([flags("fd00:1::2").nodad, flags("fd00:1::2").noprefixroute], [true, true]);
    assertEquals(flags("fd00:1::2").tentative, undefined);
    assertEquals(flags("10.3.0.2").address, "10.3.0.1");
    assertEquals(flags("fd00:2::2").address, "fd00:2::1");
    assertEquals(flags("10.4.0.1").scope, "host");
  },
});

Deno.test({
  ...needs,
  name: "addresses are filtered by family and link",
  fn() {
    const { sandbox, index } = withLink();
    using _ = sandbox;
    const { connection } = sandbox;
    const other = getLink(connection, { name: "b" }).index;
    connection.batch([
      addAddress({ index, address: parsePrefix("10.1.0.2/24") }),
      addAddress({ index: other, address: parsePrefix("10.1.0.3/24") }),
      addAddress({ index, address: parsePrefix("fd00::2/64"), noDad: true }),
    ]);
    const texts = (filter: Parameters<typeof listAddresses>[1]) =>
      listAddresses(connection, filter).map(({ address }) => `${address}`)
        .filter((text) => !text.startsWith("fe80")).sort();
    assertEquals(texts({ family: 4 }), ["10.1.0.2/24", "10.1.0.3/24"]);
    assertEquals(texts({ index: other }), ["10.1.0.3/24"]);
    assertEquals(texts({ index, family: 6 }), ["fd00::2/64"]);
  },
});

Deno.test({
  ...needs,
  name: "an address is replaced and deleted",
  fn() {
    const { sandbox, index } = withLink();
    using _ = sandbox;
    const { connection } = sandbox;
    for (const text of ["10.1.0.2/24", "fd00::2/64"]) {
      const address = parsePrefix(text);
      connection.execute(addAddress({ index, address, noDad: true }));
      connection.execute(replaceAddress({ index, address, noDad: true, noPrefixRoute: true }));
      assertSameAddresses(sandbox, index);
      connection.execute(deleteAddress({ index, address }));
    }
    const left = listAddresses(connection, { index }).filter(({ scope }) => scope === 0);
    assertEquals(left, []);
    assertSameAddresses(sandbox, index);
  },
});
