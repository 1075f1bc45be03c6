import { assertEquals, assertThrows } from "@std/assert";
import { parseAddress, parsePrefix } from "../ip/mod.ts";
import { addAddress, deleteAddress, listAddresses } from "./address.ts";
import { RTM_NEWROUTE } from "./constants/rtnetlink.ts";
import { NetlinkError } from "./errors.ts";
import {
  deleteLink,
  findLink,
  getLink,
  listLinks,
  moveLink,
  setLinkMaster,
  setLinkUp,
} from "./link.ts";
import { createBridge, createVeth } from "./link_create.ts";
import { addRoute, deleteRoute, listRoutes } from "./route.ts";
import { addRule, deleteRule, listRules } from "./rule.ts";
import { FakeKernel } from "./testing.ts";

Deno.test("FakeKernel prints what an ADD leaves behind, and nothing after the link is gone", () => {
  const kernel = new FakeKernel();
  using host = kernel.connect();
  using pod = kernel.connect("pod");
  host.execute(createVeth({
    name: "hcni0",
    mtu: 1280,
    peer: { name: "eth0", mtu: 1280, netns: kernel.netns("pod") },
  }));
  const { index } = getLink(pod, { name: "eth0" });
  pod.batch([
    setLinkUp({ index }),
    addAddress({ index, address: parsePrefix("10.1.0.2/24"), noPrefixRoute: true }),
    addRoute({ destination: parsePrefix("10.1.0.1/32"), index }),
    addRoute({ destination: parsePrefix("0.0.0.0/0"), gateway: parseAddress("10.1.0.1"), index }),
  ]);
  host.execute(addRule({
    family: 4,
    priority: 5105,
    destination: parsePrefix("10.1.0.0/24"),
    table: 254,
  }));
  assertEquals(kernel.show("pod"), [
    "link eth0 veth mtu 1280 up peer hcni0@host",
    "addr 10.1.0.2/24 dev eth0 noprefixroute",
    "route 10.1.0.1/32 dev eth0 scope link",
    "route default via 10.1.0.1 dev eth0",
  ]);
  assertEquals(listRoutes(pod, { family: 4 }).length, 2);
  assertEquals(listAddresses(pod).map(({ address }) => `${address}`), ["10.1.0.2/24"]);
  host.execute(deleteLink({ name: "hcni0" }));
  assertEquals([kernel.show("pod"), kernel.show()], [[], ["rule 5105: to 10.1.0.0/24 lookup 254"]]);
  host.execute(deleteRule({ family: 4, priority: 5105 }));
  assertEquals([kernel.show(), listRules(host)], [[], []]);
});

Deno.test("FakeKernel refuses what the kernel refuses", () => {
  const kernel = new FakeKernel();
  using host = kernel.connect();
  host.execute(createVeth({ name: "a", peer: { name: "b" } }));
  const { index } = getLink(host, { name: "a" });
  const address = parsePrefix("10.1.0.2/24");
  host.execute(addAddress({ index, address }));
  const destination = parsePrefix("10.2.0.0/16");
  const refused = [
    [deleteLink({ name: "c" }), "ENODEV"],
    [createVeth({ name: "a", peer: { name: "c" } }), "EEXIST"],
    [createVeth({ name: "c", peer: { name: "b" } }), "EEXIST"],
    [addAddress({ index, address }), "EEXIST"],
    [addAddress({ index: 99, address }), "ENODEV"],
    [deleteAddress({ index, address: parsePrefix("10.1.0.3/24") }), "EADDRNOTAVAIL"],
    [deleteRoute({ destination }), "ESRCH"],
    [deleteRule({ family: 4, priority: 1 }), "ENOENT"],
  ] as const;
  for (const [request, code] of refused) {
    assertEquals(assertThrows(() => host.execute(request), NetlinkError).code, code);
  }
  assertEquals(listLinks(host).map(({ name }) => name), ["a", "b"]);
});

Deno.test("FakeKernel fails on demand", () => {
  const kernel = new FakeKernel();
  using host = kernel.connect();
  kernel.failWith = ({ type }) => type === RTM_NEWROUTE ? "ENOMEM" : undefined;
  host.execute(createBridge({ name: "br0" }));
  assertThrows(
    () => host.execute(addRoute({ destination: parsePrefix("10.0.0.0/8"), type: 7 })),
    NetlinkError,
    "ENOMEM",
  );
  assertEquals(kernel.show(), ["link br0 bridge mtu 1500 down"]);
});

Deno.test("FakeKernel moves links between namespaces and knows bridges", () => {
  const kernel = new FakeKernel();
  using host = kernel.connect();
  using pod = kernel.connect("pod");
  host.batch([createBridge({ name: "br0" }), createVeth({ name: "a", peer: { name: "b" } })]);
  host.execute(setLinkMaster({ name: "a" }, getLink(host, { name: "br0" }).index));
  const { index } = getLink(host, { name: "b" });
  host.execute(moveLink({ index }, kernel.netns("pod"), { name: "eth0" }));
  assertEquals(findLink(host, { name: "b" }), undefined);
  assertEquals(getLink(pod, { name: "eth0" }).index, index);
  assertEquals(kernel.show(), [
    "link br0 bridge mtu 1500 down",
    "link a veth mtu 1500 down master br0 peer eth0@pod",
  ]);
});
