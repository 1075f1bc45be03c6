/** One container with several interfaces that all ask for the same host port. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { configOf, ipam } from "./config.ts";
import { type Json } from "./namespace.ts";
import { NEEDS } from "./needs.ts";
import { INTERNET, type Node, openNode, type Pod } from "./node.ts";
import { assertSameNode } from "./snapshot.ts";

const PORTS = { portMappings: [{ hostPort: 8080, containerPort: 80 }] };

function network(name: string, subnets: readonly string[]): Json {
  return configOf("IPv4", { name, ipam: ipam(subnets), runtimeConfig: PORTS });
}

const BLUE = network("blue", ["10.84.0.0/24"]);
const GREEN = network("green", ["10.85.0.0/24", "fd85::/64"]);

/** Where the host port leads, by family, as the packet filter says. */
async function targets(node: Node): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const family of ["4", "6"]) {
    const list = ["-j", "list", "map", "inet", "headcni", `host_port${family}`];
    const { nftables } = JSON.parse(await node.run("nft", ...list));
    const elements: Json[] = nftables.find((item: Json) => item.map).map.elem ?? [];
    for (const [, target] of elements as unknown as Json[][]) {
      found[family] = String(target?.concat[0]);
    }
  }
  return found;
}

function addressesOf(result: Json): string[] {
  return result.ips.map(({ address }: Json) => address.replace(/\/.*/, ""));
}

/** A pod in both networks. */
async function attachBoth(pod: Pod): Promise<{ blue: Json; green: Json }> {
  const blue = await pod.add(BLUE);
  const green = await pod.add(GREEN, { ifname: "eth1" });
  return { blue, green };
}

Deno.test({
  ...NEEDS,
  name: "the first interface has the host port, the second what is left, and inherits the rest",
  async fn() {
    await using node = await openNode({ internet: true });
    await node.warmUp(BLUE);
    const before = await node.warmUp(GREEN);
    const pod = await node.pod();
    const { blue, green } = await attachBoth(pod);
    const [blue4 = ""] = addressesOf(blue);
    const [green4 = "", green6 = ""] = addressesOf(green);
    assertEquals(await targets(node), { 4: blue4, 6: green6 });
    using _server = pod.namespace.listen(80);
    assertEquals(await node.internet().fetch(INTERNET.node4, 8080), INTERNET.host4);
    for (
      const [config, result, ifname] of [[BLUE, blue, "eth0"], [GREEN, green, "eth1"]] as const
    ) {
      const { code, stdout } = await pod.check(config, result, { ifname });
      assertEquals([code, stdout], [0, ""], `CHECK of ${ifname}`);
    }
    await pod.del(BLUE);
    assertEquals(await targets(node), { 4: green4, 6: green6 });
    assertEquals(await node.internet().fetch(INTERNET.node4, 8080), INTERNET.host4);
    const { code, stdout } = await pod.check(GREEN, green, { ifname: "eth1" });
    assertEquals([code, stdout], [0, ""]);
    await pod.del(GREEN, { ifname: "eth1" });
    assertSameNode(await node.snapshot(), before);
  },
});

Deno.test({
  ...NEEDS,
  name: "deleting the second interface leaves the host port with the first",
  async fn() {
    await using node = await openNode();
    await node.warmUp(BLUE);
    const before = await node.warmUp(GREEN);
    const pod = await node.pod();
    const { blue } = await attachBoth(pod);
    await pod.del(GREEN, { ifname: "eth1" });
    assertEquals(await targets(node), { 4: addressesOf(blue)[0] ?? "" });
    await pod.del(BLUE);
    assertSameNode(await node.snapshot(), before);
  },
});

Deno.test({
  ...NEEDS,
  name: "a DEL that is killed before the port was inherited is made good by the next",
  async fn() {
    await using node = await openNode();
    const pod = await node.pod();
    const { green } = await attachBoth(pod);
    const env = { HEADCNI_FAILPOINT: "del.filter" };
    const killed = await node.call("DEL", { ...pod.about(BLUE), env });
    assertEquals(killed.signal, "SIGKILL");
    await pod.del(BLUE);
    assertEquals((await targets(node))[4], addressesOf(green)[0]);
  },
});

Deno.test({
  ...NEEDS,
  name: "GC of the first interface hands the host port to the second",
  async fn() {
    await using node = await openNode();
    const pod = await node.pod();
    const { green } = await attachBoth(pod);
    await node.succeed("GC", { config: { ...BLUE, runtimeConfig: undefined } });
    assertEquals((await targets(node))[4], addressesOf(green)[0]);
  },
});

Deno.test({
  ...NEEDS,
  name: "both interfaces come back after the tables were flushed, the port to who had it",
  async fn() {
    await using node = await openNode();
    const pod = await node.pod();
    const { blue, green } = await attachBoth(pod);
    const before = await targets(node);
    await node.run("nft", "flush", "ruleset");
    const next = await node.pod();
    const { stderr } = await node.call("ADD", next.about(configOf()));
    assertEquals(stderr, "");
    assertEquals(await targets(node), before);
    for (
      const [config, result, ifname] of [[BLUE, blue, "eth0"], [GREEN, green, "eth1"]] as const
    ) {
      const { code, stdout } = await pod.check(config, result, { ifname });
      assertEquals([code, stdout], [0, ""], `CHECK of ${ifname}`);
    }
  },
});

Deno.test({
  ...NEEDS,
  name: "another container is still refused, whichever interface has the port",
  async fn() {
    await using node = await openNode();
    const [one, two] = [await node.pod(), await node.pod()];
    await attachBoth(one);
    const refused = await node.fail("ADD", two.about(BLUE));
    assertEquals(refused.code, 105);
    await one.del(BLUE);
    assertEquals((await node.fail("ADD", two.about(BLUE))).code, 105);
    await one.del(GREEN, { ifname: "eth1" });
    await two.add(BLUE);
  },
});

Deno.test({
  ...NEEDS,
  name: "a port that leads to an interface that is gone is taken by who asks for it next",
  async fn() {
    await using node = await openNode();
    const pod = await node.pod();
    await node.warmUp(BLUE);
    const element = 'tcp . 8080 comment "hcnigone" : 10.84.0.99 . 80';
    await node.run("nft", `add element inet headcni host_port4 { ${element} }`);
    const result = await pod.add(BLUE);
    assertEquals((await targets(node))[4], addressesOf(result)[0]);
    const listed = await node.run("nft", "list", "ruleset");
    assertStringIncludes(listed, "headcni");
    assertEquals(listed.includes("hcnigone"), false);
  },
});
