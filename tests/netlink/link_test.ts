/** Links, compared with what `ip -json link` says. */

import { assert, assertEquals, assertNotEquals } from "@std/assert";
import {
  changeLink,
  createBridge,
  createIfb,
  createVeth,
  deleteLink,
  findLink,
  getLink,
  type Link,
  listLinks,
  moveLink,
  renameLink,
  type Request,
  setLinkAlias,
  setLinkDown,
  setLinkMac,
  setLinkMaster,
  setLinkMtu,
  setLinkUp,
} from "../../lib/netlink/mod.ts";
import { kernel, requires, root, tool } from "../requires.ts";
import { type Json, only, Sandbox } from "./fixture.ts";

const needs = requires(root, tool("ip", "iproute2"));

/** The fields both sides have, under one name. */
function ours(link: Link): Json {
  return {
    index: link.index,
    name: link.name,
    mtu: link.mtu,
    mac: link.mac,
    up: link.up,
    kind: link.kind,
    state: link.operState,
    alias: link.alias,
    queue: link.txQueueLength,
  };
}

function theirs(link: Json): Json {
  return {
    index: link.ifindex,
    name: link.ifname,
    mtu: link.mtu,
    mac: link.address,
    up: link.flags.includes("UP"),
    kind: link.linkinfo?.info_kind,
    state: link.operstate.toLowerCase(),
    alias: link.ifalias,
    queue: link.txqlen,
  };
}

function assertSameLinks(sandbox: Sandbox): void {
  assertEquals(
    listLinks(sandbox.connection).map(ours),
    sandbox.ip("link", "show").map(theirs),
  );
}

Deno.test({
  ...needs,
  name: "a veth is created with its peer straight in another namespace",
  fn() {
    using host = new Sandbox();
    using pod = new Sandbox();
    host.connection.execute(createVeth({
      name: "hcni0",
      mtu: 1280,
      mac: "0a:58:0a:00:00:01",
      txQueueLength: 64,
      peer: { name: "eth0", mtu: 1280, mac: "0a:58:0a:00:00:02", netns: pod.netns },
    }));
    const near = getLink(host.connection, { name: "hcni0" });
    const far = getLink(pod.connection, { name: "eth0" });
    assertEquals([near.mtu, near.mac, near.txQueueLength], [1280, "0a:58:0a:00:00:01", 64]);
    assertEquals([far.mtu, far.mac, far.kind], [1280, "0a:58:0a:00:00:02", "veth"]);
    assertEquals([near.parent, far.parent], [far.index, near.index]);
    assertNotEquals(near.parentNetnsId, undefined);
    assertEquals(near.parentNetnsId, only(host.ip("link", "show", "hcni0")).link_netnsid);
    assertSameLinks(host);
    assertSameLinks(pod);
    assertEquals(host.ip("link", "show", "type", "veth").length, 1);
  },
});

Deno.test({
  ...needs,
  name: "a link goes up, down, changes MTU, MAC, alias and name as ip sees it",
  fn() {
    using sandbox = new Sandbox();
    const { connection } = sandbox;
    connection.execute(createVeth({ name: "a", peer: { name: "b" } }));
    const { index } = getLink(connection, { name: "a" });
    let name = "a";
    const show = () => only(sandbox.ip("link", "show", "dev", name));
    connection.batch([setLinkUp({ name: "a" }), setLinkUp({ name: "b" })]);
    assert(show().flags.includes("UP"));
    assertEquals(getLink(connection, { index }).operState, "up");
    connection.execute(setLinkMtu({ index }, 1400));
    assertEquals(show().mtu, 1400);
    connection.execute(setLinkMac({ index }, "0a:58:0a:00:00:09"));
    assertEquals(show().address, "0a:58:0a:00:00:09");
    connection.execute(setLinkAlias({ index }, "pod default/größe"));
    assertEquals(show().ifalias, "pod default/größe");
    assertEquals(getLink(connection, { index }).alias, "pod default/größe");
    connection.execute(setLinkDown({ index }));
    assert(!show().flags.includes("UP"));
    connection.execute(renameLink({ index }, "c"));
    name = "c";
    assertEquals(show().ifindex, index);
    connection.execute(changeLink({ index }, { up: true, mtu: 1300, alias: "" }));
    assertEquals([show().mtu, show().ifalias], [1300, undefined]);
    assertSameLinks(sandbox);
  },
});

Deno.test({
  ...needs,
  name: "a link joins a bridge and leaves it, and is listed by master and by kind",
  fn() {
    using sandbox = new Sandbox();
    const { connection } = sandbox;
    connection.batch([
      createBridge({
        name: "br0",
        mac: "0a:58:0a:00:00:ff",
        spanningTree: false,
        forwardDelayMs: 2000,
      }),
      createVeth({ name: "a", peer: { name: "b" } }),
    ]);
    const bridge = getLink(connection, { name: "br0" });
    const { info_data: data } = only(sandbox.ip("link", "show", "br0")).linkinfo;
    assertEquals([data.stp_state, data.forward_delay], [0, 200]);
    connection.execute(setLinkMaster({ name: "a" }, bridge.index));
    assertEquals(only(sandbox.ip("link", "show", "dev", "a")).master, "br0");
    assertEquals(listLinks(connection, { master: bridge.index }).map((l) => l.name), ["a"]);
    assertEquals(
      listLinks(connection, { kind: "veth" }).map((l) => l.name),
      sandbox.ip("link", "show", "type", "veth").map((l) => l.ifname),
    );
    connection.execute(setLinkMaster({ name: "a" }, 0));
    assertEquals(only(sandbox.ip("link", "show", "dev", "a")).master, undefined);
    assertSameLinks(sandbox);
  },
});

Deno.test({
  ...needs,
  name: "a link moves to another namespace under a new name",
  fn() {
    using here = new Sandbox();
    using there = new Sandbox();
    here.connection.execute(createVeth({ name: "a", peer: { name: "b" } }));
    const { index } = getLink(here.connection, { name: "b" });
    here.connection.execute(moveLink({ index }, there.netns, { name: "eth0" }));
    assertEquals(findLink(here.connection, { name: "b" }), undefined);
    assertEquals(only(there.ip("link", "show", "type", "veth")).ifname, "eth0");
    assertEquals(getLink(there.connection, { name: "eth0" }).kind, "veth");
  },
});

Deno.test({
  ...needs,
  name: "deleting one end of a veth deletes the other",
  fn() {
    using host = new Sandbox();
    using pod = new Sandbox();
    host.connection.execute(createVeth({ name: "a", peer: { name: "b", netns: pod.netns } }));
    pod.connection.execute(deleteLink({ name: "b" }));
    assertEquals(findLink(host.connection, { name: "a" }), undefined);
    assertEquals(host.ip("link", "show", "type", "veth"), []);
  },
});

Deno.test({
  ...requires(
    root,
    tool("ip", "iproute2"),
    kernel("ifb", () => takes(createIfb({ name: "probe" }))),
  ),
  name: "an ifb is created",
  fn() {
    using sandbox = new Sandbox();
    sandbox.connection.execute(createIfb({ name: "ifb9" }));
    assertEquals(getLink(sandbox.connection, { name: "ifb9" }).kind, "ifb");
    assertSameLinks(sandbox);
  },
});

Deno.test({
  ...requires(
    root,
    tool("ip", "iproute2"),
    kernel("VLAN filtering bridges", () => takes(createBridge({ name: "p", vlanFiltering: true }))),
  ),
  name: "a bridge filters VLANs if asked",
  fn() {
    using sandbox = new Sandbox();
    sandbox.connection.execute(createBridge({ name: "br0", vlanFiltering: true }));
    const { info_data: data } = only(sandbox.ip("link", "show", "br0")).linkinfo;
    assertEquals(data.vlan_filtering, 1);
  },
});

/** Whether this kernel carries out `request`. */
function takes(request: Request): boolean {
  if (Deno.uid() !== 0) return false;
  using sandbox = new Sandbox();
  return sandbox.connection.exchange([request])[0]?.error === undefined;
}
