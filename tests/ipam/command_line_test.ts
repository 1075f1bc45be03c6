/** `headcni ipam` as a person and as a program uses it. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { requires, root, tool } from "../requires.ts";
import { createNamespace } from "./namespace.ts";
import { Bench, network } from "./plugin.ts";

const DUAL = network({ ranges: [[{ subnet: "10.62.0.0/24" }], [{ subnet: "fd62::/64" }]] });
const POD = "K8S_POD_NAMESPACE=web;K8S_POD_NAME=front-0;K8S_POD_UID=u-1;IgnoreUnknown=1";

/** A store with two containers, one of them a pod. */
async function filled(): Promise<Bench> {
  const bench = new Bench();
  await bench.call({ command: "ADD", id: "c1", args: POD, config: DUAL });
  await bench.call({ command: "ADD", id: "c2", config: DUAL });
  return bench;
}

Deno.test("a machine without a store has nothing to list, and that is no failure", async () => {
  await using bench = new Bench();
  for (const command of ["list", "stats", "check", "export", "gc"]) {
    assertEquals((await bench.ipam(command)).code, 0, command);
  }
  assertEquals([...Deno.readDirSync(bench.directory)].map(({ name }) => name), ["bin"]);
});

Deno.test("list, show and stats tell who holds what", async () => {
  await using bench = await filled();
  const list = await bench.ipam("list");
  assertMatch(list.stdout, /^NETWORK +ADDRESS +STATE +CONTAINER +IFNAME +POD OR NOTE\n/);
  assertMatch(list.stdout, /test-net +10\.62\.0\.2 +held +c1 +eth0 +web\/front-0\n/);
  const show = await bench.ipam("show", "10.62.0.2", "--json");
  const [entry] = show.json;
  assertEquals(
    [entry.containerId, entry.podNamespace, entry.podName, entry.podUid],
    ["c1", "web", "front-0", "u-1"],
  );
  assertEquals((await bench.ipam("show", "c2", "--json")).json.length, 2);
  assertEquals((await bench.ipam("show", "10.62.0.77")).code, 4);
  const stats = await bench.ipam("stats", "--json");
  assertEquals(stats.json[0], {
    network: "test-net",
    pool: "10.62.0.1-10.62.0.254",
    size: "253",
    held: 2,
    resting: 0,
    free: "251",
    usedPercent: 0.8,
  });
  assertEquals(stats.json[1].size, "18446744073709551614");
});

Deno.test("allocate gives what ADD would give, from the stored pools or a file", async () => {
  await using bench = await filled();
  const args = ["allocate", "--network", "test-net", "--container", "debug"];
  const dry = await bench.ipam(...args, "--dry-run");
  assertEquals(dry.stdout, "10.62.0.4/24 via 10.62.0.1\nfd62::4/64 via fd62::1\n");
  assertEquals((await bench.ipam("show", "debug")).code, 4);
  assertEquals((await bench.ipam(...args)).stdout, dry.stdout);
  assertEquals((await bench.ipam(...args)).stdout, dry.stdout);

  const file = `${bench.directory}/net.conflist`;
  const plugins = [{ type: "bridge", ipam: { subnet: "10.61.0.0/24" } }, { type: "portmap" }];
  await Deno.writeTextFile(file, JSON.stringify({ name: "second", plugins }));
  const second = ["allocate", "--network", "second", "--container", "debug"];
  assertEquals((await bench.ipam(...second)).code, 2, "no pools are known");
  const given = await bench.ipam(...second, "--config", file, "--address", "10.61.0.9", "--json");
  assertEquals(given.json, [{ address: "10.61.0.9/24", gateway: "10.61.0.1" }]);
});

Deno.test("release takes back by container or address, and says what it would do", async () => {
  await using bench = await filled();
  const dry = await bench.ipam("release", "10.62.0.2", "--dry-run");
  assertStringIncludes(dry.stdout, "would release fd62::2 in network test-net");
  assertEquals((await bench.ipam("list", "--json")).json.length, 4);
  assertEquals((await bench.ipam("release", "10.62.0.2")).code, 0);
  assertEquals((await bench.ipam("show", "fd62::2", "--json")).json[0].state, "resting");
  assertEquals((await bench.ipam("release", "c2", "--now")).code, 0);
  assertEquals((await bench.ipam("show", "fd62::3")).code, 4, "it rests");
  assertEquals((await bench.ipam("release", "c2")).code, 4);
});

Deno.test("a reserved address is given to nobody until it is released", async () => {
  await using bench = await filled();
  const args = ["reserve", "10.62.0.4", "--network", "test-net", "--note", "the printer"];
  assertEquals((await bench.ipam(...args)).stdout, "reserved 10.62.0.4 in network test-net\n");
  assertEquals((await bench.ipam(...args)).code, 1);
  const next = await bench.call({ command: "ADD", id: "c3", config: DUAL });
  assertEquals(next.json.ips[0].address, "10.62.0.5/24");
  const shown = await bench.ipam("show", "10.62.0.4");
  assertStringIncludes(shown.stdout, "the printer");
});

Deno.test({
  ...requires(root, tool("ip", "iproute2")),
  name: "check counts leaked, missing, foreign and duplicate; gc releases what leaked",
  fn: async () => {
    await using bench = new Bench();
    await using one = await createNamespace();
    await using two = await createNamespace();
    const config = network({ subnet: "10.60.0.0/24" });
    const add = (id: string, netns: string) => bench.call({ command: "ADD", id, netns, config });
    await add("fine", one.path); // .2
    await add("gone", "/run/netns/hcni-test-gone"); // .3
    await add("stripped", two.path); // .4
    await one.ip("addr", "add", "10.60.0.2/24", "dev", "lo");
    await one.ip("addr", "add", "10.60.0.50/24", "dev", "lo");
    await two.ip("addr", "add", "10.60.0.50/24", "dev", "lo");

    const counts = await bench.ipam("check");
    assertEquals(counts.code, 3);
    assertStringIncludes(counts.stdout, "3 held");
    assertStringIncludes(counts.stdout, "1 leaked, 1 missing, 1 foreign, 1 duplicate");
    assert(!counts.stdout.includes("10.60.0.3"), "details without being asked for");
    const { stdout } = await bench.ipam("check", "--details");
    assertMatch(stdout, /leaked +10\.60\.0\.3 .*gone eth0, \/run\/netns\/hcni-test-gone is gone/);
    assertMatch(stdout, /missing +10\.60\.0\.4 .*stripped eth0/);
    assertMatch(stdout, /foreign +10\.60\.0\.50 /);
    assertMatch(stdout, /duplicate 10\.60\.0\.50 /);

    const dry = await bench.ipam("gc", "--grace", "0", "--dry-run");
    assertStringIncludes(dry.stdout, "would release 10.60.0.3");
    const done = await bench.ipam("gc", "--grace", "0");
    assertStringIncludes(done.stdout, "1 leaked");
    const { json } = await bench.ipam("check", "--json");
    assertEquals([json.leaked, json.missing, json.foreign], [0, 1, 1]);
    assertEquals((await bench.ipam("gc", "--grace", "soon")).code, 2);
  },
});

Deno.test("export is one object with pools and addresses", async () => {
  await using bench = await filled();
  const { json } = await bench.ipam("export");
  assertEquals([json.schema, json.pools.length, json.addresses.length], [2, 2, 4]);
  assertEquals(json.pools[0].ranges[0].subnet, "10.62.0.0/24");
});

Deno.test("wrong command lines exit with 2 and change nothing", async () => {
  await using bench = new Bench();
  const cases = [
    ["reserve", "10.0.0.300", "--network", "n"],
    ["reserve", "10.0.0.3"],
    ["allocate", "--network", "n"],
    ["import", "dhcp", "/x"],
    ["nonsense"],
    [],
  ];
  for (const args of cases) assertEquals((await bench.ipam(...args)).code, 2, args.join(" "));
});
