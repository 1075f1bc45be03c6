/** The IPAM plugin as the specification has it, by black box. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Bench, type Ending, network } from "./plugin.ts";

const SMALL = { ranges: [[{ subnet: "10.63.0.0/29" }]] }; // .2 to .6

function addressesOf({ json, stdout }: Ending): string[] {
  assert(json?.ips !== undefined, stdout);
  return json.ips.map((ip: { address: string }) => ip.address);
}

Deno.test("ADD answers in the form of every version", async () => {
  await using bench = new Bench();
  const resolvConf = `${bench.directory}/resolv.conf`;
  await Deno.writeTextFile(resolvConf, "# mine\nnameserver 10.63.9.53\nsearch a.local b.local\n");
  const ipam = {
    ranges: [[{ subnet: "10.63.1.0/24" }], [{ subnet: "fd63:1::/64" }]],
    routes: [{ dst: "0.0.0.0/0" }, { dst: "fd00::/8", gw: "fd63:1::1" }],
    resolvConf,
  };
  const dns = { nameservers: ["10.63.9.53"], search: ["a.local", "b.local"] };
  const add = async (cniVersion: string | undefined) => {
    const config = network(ipam, { cniVersion, name: `net-${cniVersion}` });
    return (await bench.call({ command: "ADD", config })).json;
  };
  const [v4, v6] = [
    { address: "10.63.1.2/24", gateway: "10.63.1.1" },
    { address: "fd63:1::2/64", gateway: "fd63:1::1" },
  ];
  for (const cniVersion of ["1.0.0", "1.1.0"]) {
    assertEquals(await add(cniVersion), { cniVersion, ips: [v4, v6], routes: ipam.routes, dns });
  }
  for (const cniVersion of ["0.3.0", "0.3.1", "0.4.0"]) {
    const ips = [{ version: "4", ...v4 }, { version: "6", ...v6 }];
    assertEquals(await add(cniVersion), { cniVersion, ips, routes: ipam.routes, dns });
  }
  for (const cniVersion of ["0.1.0", "0.2.0", undefined]) {
    assertEquals(await add(cniVersion), {
      cniVersion: cniVersion ?? "0.1.0",
      ip4: { ip: v4?.address, gateway: v4?.gateway, routes: [{ dst: "0.0.0.0/0" }] },
      ip6: { ip: v6?.address, gateway: v6?.gateway, routes: [ipam.routes[1]] },
      dns,
    });
  }
});

Deno.test("what is wrong with a call is told with the number of the specification", async () => {
  await using bench = new Bench();
  const good = network(SMALL);
  const ranges = (...list: unknown[]) => network({ ranges: list });
  // What is called, its code, words of its message.
  const cases: [Partial<Parameters<Bench["call"]>[0]>, number, string][] = [
    [{ id: "" }, 4, "CNI_CONTAINERID"],
    [{ id: "../etc" }, 4, "CNI_CONTAINERID"],
    [{ ifname: "a/b" }, 4, "CNI_IFNAME"],
    [{ netns: "" }, 4, "CNI_NETNS"],
    [{ config: "{" }, 6, "JSON"],
    [{ config: "[]" }, 6, "object"],
    [{ config: { ...good, name: "" } }, 7, "name"],
    [{ config: { ...good, name: "../x" } }, 7, "name"],
    [{ config: { ...good, cniVersion: "9.9.9" } }, 1, "9.9.9"],
    [{ config: { ...good, cniVersion: 1 } }, 6, "cniVersion"],
    [{ config: network({}) }, 7, "ipam.ranges"],
    [{ config: ranges([{ subnet: "10.0.0.1/24" }]) }, 7, "ipam.ranges[0][0].subnet"],
    [{ config: ranges([{ subnet: "10.0.0.0/31" }]) }, 7, "too small"],
    [
      { config: ranges([{ subnet: "10.0.0.0/24", rangeStart: "10.0.1.1" }]) },
      7,
      "ipam.ranges[0][0].rangeStart",
    ],
    [{ config: ranges([{ subnet: "10.0.0.0/24" }], [{ subnet: "10.0.0.0/25" }]) }, 7, "overlaps"],
    [
      { config: ranges([{ subnet: "10.0.0.0/24" }, { subnet: "fd00::/64" }]) },
      7,
      "of another family",
    ],
    [{ config: network({ ...SMALL, strategy: "best" }) }, 7, "ipam.strategy"],
    [{ config: network({ ...SMALL, cooldown: "soon" }) }, 7, "ipam.cooldown"],
    [{ config: network({ ...SMALL, exclude: ["10.63.0.300"] }) }, 7, "ipam.exclude[0]"],
    [{ config: network({ ...SMALL, routes: [{ dst: "nowhere" }] }) }, 7, "ipam.routes[0].dst"],
    [{ config: network({ ...SMALL, dataDir: "here" }) }, 5, "absolute path"],
    [{ config: network({ ...SMALL, resolvConf: "/nonexistent" }) }, 5, "/nonexistent"],
    [{ args: "IP=10.63.9.9" }, 101, "10.63.9.9"],
    [{ args: "IP=10.63.0.1" }, 101, "gateway"],
    [{ args: "IP=10.63.0.x" }, 7, "CNI_ARGS IP"],
    [
      {
        config: {
          ...ranges([{ subnet: "10.1.0.0/24" }], [{ subnet: "10.2.0.0/24" }]),
          cniVersion: "0.2.0",
        },
      },
      7,
      "one IPv4 address",
    ],
  ];
  for (const [what, code, words] of cases) {
    const { code: status, json, stdout } = await bench.call({
      command: "ADD",
      config: good,
      ...what,
    });
    assertEquals([status, json?.code], [1, code], `${JSON.stringify(what)}: ${stdout}`);
    assertStringIncludes(json.msg, words);
  }
  // A call that was refused has changed nothing.
  assertEquals((await bench.ipam("list", "--json")).json, []);
});

Deno.test("verbs that a version does not have are refused", async () => {
  await using bench = new Bench();
  for (const [command, cniVersion] of [["CHECK", "0.3.1"], ["GC", "1.0.0"], ["STATUS", "1.0.0"]]) {
    const config = network(SMALL, { cniVersion });
    const { json } = await bench.call({ command: command ?? "", config });
    assertEquals(json.code, 1);
  }
});

Deno.test("ADD for the same attachment gives the same addresses; another interface gets its own", async () => {
  await using bench = new Bench();
  const config = network(SMALL);
  const first = addressesOf(await bench.call({ command: "ADD", config }));
  assertEquals(addressesOf(await bench.call({ command: "ADD", config })), first);
  const second = addressesOf(await bench.call({ command: "ADD", ifname: "net1", config }));
  assertEquals([first, second], [["10.63.0.2/29"], ["10.63.0.3/29"]]);
  const other = network({ ranges: [[{ subnet: "10.63.4.0/24" }]] });
  const { json } = await bench.call({ command: "ADD", config: other });
  assertEquals(json.code, 102);
});

Deno.test("a full pool is error 100 with its size; STATUS says 50; a resting address is used", async () => {
  await using bench = new Bench();
  const config = network(SMALL, { cniVersion: "1.1.0" });
  assertEquals((await bench.call({ command: "STATUS", config })).code, 0);
  assert(!exists(bench.data), "STATUS made something");
  for (let index = 0; index < 5; index++) {
    assertEquals((await bench.call({ command: "ADD", id: `pod-${index}`, config })).code, 0);
  }
  const full = await bench.call({ command: "ADD", id: "late", config });
  assertEquals(full.json.code, 100);
  assertStringIncludes(full.json.msg, "10.63.0.1-10.63.0.6 is exhausted: 5 of 5 addresses");
  const status = await bench.call({ command: "STATUS", config });
  assertEquals(status.json.code, 50);

  await bench.call({ command: "DEL", id: "pod-3", config });
  await bench.call({ command: "DEL", id: "pod-1", config });
  assertEquals((await bench.call({ command: "STATUS", config })).code, 0);
  const next = await bench.call({ command: "ADD", id: "late", config });
  assertEquals(addressesOf(next), ["10.63.0.5/29"], "not the one that rests the longest");
});

Deno.test("strategies, excluded addresses and the rest of a released one", async () => {
  await using bench = new Bench();
  const subnet = "10.63.2.0/28";
  const add = async (ipam: Record<string, unknown>, id: string) =>
    addressesOf(await bench.call({ command: "ADD", id, config: network({ subnet, ...ipam }) }))[0];
  const del = (id: string, ipam = {}) =>
    bench.call({ command: "DEL", id, config: network({ subnet, ...ipam }) });

  const exclude = ["10.63.2.2-10.63.2.4", "10.63.2.8/31"];
  assertEquals(await add({ exclude }, "a"), "10.63.2.5/28");
  assertEquals(await add({ exclude }, "b"), "10.63.2.6/28");
  await del("a");
  assertEquals(await add({ exclude }, "c"), "10.63.2.7/28");
  assertEquals(await add({ exclude, strategy: "dense-pack" }, "d"), "10.63.2.10/28", ".5 rests");
  await del("b", { cooldown: 0 });
  assertEquals(await add({ exclude, strategy: "dense-pack", cooldown: 0 }, "e"), "10.63.2.5/28");
  const random = await add({ exclude, strategy: "random" }, "f");
  assert(["6", "11", "12", "13", "14"].some((last) => random === `10.63.2.${last}/28`), random);
});

Deno.test("requested addresses come from CNI_ARGS, args and runtimeConfig, in any case of keys", async () => {
  await using bench = new Bench();
  const config = network(SMALL);
  const add = async (id: string, more: Record<string, unknown>, args = "") =>
    addressesOf(
      await bench.call({ command: "ADD", id, args, config: { ...config, ...more } }),
    );
  assertEquals(await add("a", {}, "IgnoreUnknown=1;IP=10.63.0.6"), ["10.63.0.6/29"]);
  assertEquals(await add("b", { args: { cni: { ips: ["10.63.0.5/29"] } } }), ["10.63.0.5/29"]);
  assertEquals(await add("c", { runtimeConfig: { ips: ["10.63.0.4"] } }), ["10.63.0.4/29"]);
  // As containerd writes them.
  const ipRanges = [[{ Subnet: "10.63.7.0/24", RangeStart: "10.63.7.9", Gateway: "10.63.7.254" }]];
  const extra = await bench.call({
    command: "ADD",
    id: "d",
    config: { ...config, runtimeConfig: { IPRanges: ipRanges } },
  });
  assertEquals(extra.json.ips, [
    { address: "10.63.7.9/24", gateway: "10.63.7.254" },
    { address: "10.63.0.2/29", gateway: "10.63.0.1" },
  ]);
  const taken = await bench.call({ command: "ADD", id: "e", args: "IP=10.63.0.6", config });
  assertEquals(taken.json.code, 101);
  assertStringIncludes(taken.json.msg, "a eth0 holds it");
});

Deno.test("DEL succeeds whenever there is nothing to do", async () => {
  await using bench = new Bench();
  const config = network(SMALL);
  const quiet = async (what: Partial<Parameters<Bench["call"]>[0]>) => {
    const { code, stdout } = await bench.call({ command: "DEL", config, ...what });
    assertEquals([code, stdout], [0, ""], JSON.stringify(what));
  };
  await quiet({});
  assert(!exists(bench.data), "DEL made a store");
  await bench.call({ command: "ADD", config });
  await quiet({ netns: "" });
  await quiet({});
  await quiet({ id: "never-seen" });
  await quiet({ config: network({ ranges: "gone wrong", cooldown: "never" }) });
  await quiet({ config: { ...config, name: "never-seen" } });
  await quiet({ args: "=;;nonsense", config: { ...config, prevResult: { ips: [{ x: 1 }, 2] } } });
});

Deno.test("CHECK compares with the result of ADD", async () => {
  await using bench = new Bench();
  const config = network(SMALL);
  const check = (prevResult?: unknown) =>
    bench.call({
      command: "CHECK",
      config: prevResult === undefined ? config : { ...config, prevResult },
    });
  assertEquals((await check()).json.code, 103);
  const { json } = await bench.call({ command: "ADD", config });
  assertEquals((await check(json)).code, 0);
  // Others of the chain may have added addresses.
  const more = { ...json, ips: [...json.ips, { address: "192.0.2.1/32" }] };
  assertEquals((await check(more)).code, 0);
  const less = await check({ ...json, ips: [{ address: "10.63.0.6/29" }] });
  assertEquals(less.json.code, 103);
  assertStringIncludes(less.json.msg, "10.63.0.2");
});

Deno.test("GC releases what the runtime does not list, of its own network only", async () => {
  await using bench = new Bench();
  const config = network(SMALL, { cniVersion: "1.1.0" });
  const other = { ...config, name: "other-net" };
  for (const id of ["a", "b", "c"]) await bench.call({ command: "ADD", id, config });
  await bench.call({ command: "ADD", id: "a", config: other });
  const held = async () => {
    const { json } = await bench.ipam("list", "--json");
    return json.flatMap((one: { network: string; containerId?: string }) =>
      one.containerId === undefined ? [] : [`${one.network} ${one.containerId}`]
    ).sort();
  };
  const gc = async (more: Record<string, unknown>) => {
    const { code, stdout } = await bench.call({
      command: "GC",
      id: "",
      ifname: "",
      netns: "",
      config: { ...config, ...more },
    });
    assertEquals([code, stdout], [0, ""]);
  };
  const keep = (...ids: string[]) => ids.map((containerID) => ({ containerID, ifname: "eth0" }));
  await gc({ "cni.dev/valid-attachments": keep("a", "b") });
  assertEquals(await held(), ["other-net a", "test-net a", "test-net b"]);
  await gc({ "cni.dev/attachments": keep("b") });
  assertEquals(await held(), ["other-net a", "test-net b"]);
  await gc({});
  assertEquals(await held(), ["other-net a"]);
});

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}
