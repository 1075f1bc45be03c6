/** Plugins that speak different versions in one chain, and results on their way through it. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { type Json } from "../plugin/namespace.ts";
import { chainOf, FakeNode, resultOf } from "./fake_plugins.ts";

const IP = { address: "10.9.0.2/24", gateway: "10.9.0.1" };

/** The same result, as each version writes it. */
const WRITTEN: Readonly<Record<string, Json>> = {
  "0.2.0": { cniVersion: "0.2.0", ip4: { ip: IP.address, gateway: IP.gateway }, dns: {} },
  "0.4.0": { cniVersion: "0.4.0", ips: [{ version: "4", ...IP }], dns: {} },
  "1.1.0": { cniVersion: "1.1.0", ips: [IP] },
};

/** alpha speaks one version, bravo another. */
function mixed(alpha: string, bravo: string, more: Json = {}): Json {
  return {
    ...chainOf([]),
    plugins: [{ type: "alpha", cniVersion: alpha }, { type: "bravo", cniVersion: bravo }],
    ...more,
  };
}

function answerIn(node: FakeNode, type: string, version: string): void {
  node.answer(type, "ADD", JSON.stringify(WRITTEN[version]));
}

for (const [alpha, bravo] of [["0.4.0", "1.1.0"], ["1.1.0", "0.4.0"], ["0.2.0", "1.1.0"]]) {
  for (const caller of ["0.2.0", "0.4.0", "1.1.0"]) {
    if (alpha === undefined || bravo === undefined) continue;
    Deno.test(`a plugin of ${alpha}, one of ${bravo}, a caller of ${caller}`, async () => {
      await using node = new FakeNode();
      answerIn(node, "alpha", alpha);
      answerIn(node, "bravo", bravo);
      const config = mixed(alpha, bravo, { cniVersion: caller });
      assertEquals(await node.succeed("ADD", { config }), WRITTEN[caller]);
      const [first, second] = node.calls();
      assertEquals([first?.stdin.cniVersion, second?.stdin.cniVersion], [alpha, bravo]);
      assertEquals(second?.stdin.prevResult, WRITTEN[bravo]);

      await node.succeed("DEL", { config: { ...config, prevResult: WRITTEN[caller] } });
      const deleted = node.calls().map(({ name, stdin }) => [name, stdin.prevResult]);
      // Before 0.4.0 a DEL has no previous result.
      const told = (version: string) => version === "0.2.0" ? undefined : WRITTEN[version];
      assertEquals(deleted, [["DEL bravo", told(bravo)], ["DEL alpha", told(alpha)]]);
    });
  }
}

Deno.test("CHECK, GC and STATUS go to the plugins whose version has them", async () => {
  await using node = new FakeNode();
  answerIn(node, "alpha", "0.2.0");
  answerIn(node, "bravo", "0.4.0");
  const plugins = [
    { type: "alpha", cniVersion: "0.2.0" },
    { type: "bravo", cniVersion: "0.4.0" },
    { type: "charlie" },
  ];
  const config = { ...chainOf([]), plugins };
  const prevResult = await node.succeed("ADD", { config });
  node.calls();
  await node.succeed("CHECK", { config: { ...config, prevResult } });
  assertEquals(node.names(), ["CHECK bravo", "CHECK charlie"]);
  const list = { "cni.dev/valid-attachments": [{ containerID: "c1", ifname: "eth0" }] };
  await node.succeed("GC", { config: { ...config, ...list } });
  assertEquals(node.names(), ["VERSION charlie", "GC charlie"]);
  // Those without STATUS are asked whether they run and speak their version.
  const error = await node.fail("STATUS", { config });
  assertStringIncludes(
    error.msg,
    "alpha (plugins[0]): it speaks CNI 0.4.0, 1.0.0, 1.1.0, it is asked in 0.2.0",
  );
  assertEquals(node.names(), ["VERSION alpha"]);
  const versions = { cniVersion: "0.2.0", supportedVersions: ["0.1.0", "0.2.0"] };
  node.answer("alpha", "VERSION", JSON.stringify(versions));
  await node.succeed("STATUS", { config });
  assertEquals(node.names(), ["VERSION alpha", "VERSION bravo", "STATUS charlie"]);
});

Deno.test("a plugin that does not know the version is named, with the versions it knows", async () => {
  await using node = new FakeNode();
  node.answer("bravo", "ADD", '{"code":1,"msg":"incompatible CNI versions"}', 1);
  node.answer("bravo", "VERSION", '{"cniVersion":"1.0.0","supportedVersions":["0.4.0","1.0.0"]}');
  const error = await node.fail("ADD");
  assertEquals([error.code, error.msg, error.details], [
    1,
    "Cannot use plugin bravo (plugins[1]): incompatible CNI versions",
    "the plugin speaks CNI 0.4.0, 1.0.0, it was asked in 1.1.0",
  ]);
  assertEquals(node.names(), ["ADD alpha", "ADD bravo", "VERSION bravo", "DEL bravo", "DEL alpha"]);
  node.answer("bravo", "STATUS", '{"code":4,"msg":"unknown CNI_COMMAND: STATUS"}', 1);
  const status = await node.fail("STATUS");
  assertStringIncludes(status.msg, "bravo (plugins[1]): it speaks CNI 0.4.0, 1.0.0");
});

Deno.test("GC passes over a plugin that has none", async () => {
  await using node = new FakeNode();
  node.answer("bravo", "VERSION", '{"cniVersion":"1.0.0","supportedVersions":["0.4.0","1.0.0"]}');
  await node.succeed("GC");
  assertEquals(node.names().filter((name) => name.startsWith("GC")), [
    "GC alpha",
    "GC charlie",
    "GC delta",
  ]);
});

Deno.test("numbers 50 and 51 of a plugin's STATUS reach the runtime", async () => {
  await using node = new FakeNode();
  for (const code of [50, 51]) {
    node.answer("charlie", "STATUS", JSON.stringify({ code, msg: "no addresses" }), 1);
    const error = await node.fail("STATUS");
    assertEquals([error.code, error.msg], [
      code,
      "Cannot use plugin charlie (plugins[2]): no addresses",
    ]);
  }
});

Deno.test("keys of a result that only its plugin knows go through the chain", async () => {
  await using node = new FakeNode();
  const prevResult = { ...resultOf("outside"), "x-mine": [1] };
  await node.succeed("ADD", { config: chainOf(["alpha", "bravo"], { prevResult }) });
  const [first, second] = node.calls();
  assertEquals(first?.stdin.prevResult, prevResult);
  assertEquals(second?.stdin.prevResult, resultOf("alpha"));
});

Deno.test("a damaged prevResult stops an ADD, and not a DEL", async () => {
  await using node = new FakeNode();
  const config = chainOf(["alpha"], { prevResult: { ips: 7 } });
  const error = await node.fail("ADD", { config });
  assertEquals([error.code, node.names()], [6, []]);
  await node.succeed("ADD", { config: chainOf(["alpha"]) });
  node.names();
  await node.succeed("DEL", { config });
  const [deleted] = node.calls();
  assertEquals(deleted?.stdin.prevResult, resultOf("alpha"), "the one that was recorded");
});

Deno.test("a result that the caller's version cannot say is undone", async () => {
  await using node = new FakeNode();
  const config = mixed("1.1.0", "1.1.0", { cniVersion: "0.2.0" });
  node.answer("bravo", "ADD", '{"cniVersion":"1.1.0","interfaces":[{"name":"x"}]}');
  const error = await node.fail("ADD", { config });
  assertEquals([error.code, error.msg], [
    6,
    "Cannot convert result to CNI version 0.2.0: it has no address",
  ]);
  assertEquals(node.names(), ["ADD alpha", "ADD bravo", "DEL bravo", "DEL alpha"]);
  assertEquals(node.chains(), []);
});

Deno.test("the namespace this program runs in is refused before any plugin runs", async () => {
  await using node = new FakeNode();
  for (const verb of ["ADD", "DEL"] as const) {
    const error = await node.fail(verb, { netns: "/proc/self/ns/net" });
    assertEquals(error.code, 8);
  }
  assertEquals(node.names(), []);
  const env = { CNI_NETNS_OVERRIDE: "1" };
  await node.succeed("ADD", { netns: "/proc/self/ns/net", env });
  const [first] = node.calls();
  assertEquals(first?.env.CNI_NETNS_OVERRIDE, "1");
});

Deno.test("a program is found by its name in CNI_PATH and nowhere else", async () => {
  await using node = new FakeNode();
  for (const type of ["../bin/alpha", `${node.bin}/alpha`, "."]) {
    const error = await node.fail("ADD", { config: { ...chainOf([]), plugins: [{ type }] } });
    assertStringIncludes(error.msg, type === "." ? "name of a file" : "the name of a plugin");
  }
  const env = { CNI_PATH: "", PATH: `${node.bin}:/usr/bin:/bin` };
  const error = await node.fail("ADD", { config: chainOf(["alpha"]), env });
  assertStringIncludes(error.msg, "it is in none of CNI_PATH (empty)");
  const [one, two] = [`${node.directory}/one`, `${node.directory}/two`];
  Deno.mkdirSync(one);
  Deno.mkdirSync(`${two}/alpha`, { recursive: true }); // a directory is no program
  await node.succeed("ADD", {
    config: chainOf(["alpha"]),
    env: { CNI_PATH: `${one}::${two}:${node.bin}` },
  });
  assertEquals(node.names(), ["ADD alpha"]);
});

Deno.test("names and configurations never meet a shell", async () => {
  await using node = new FakeNode();
  const type = "a$(touch pwned) b;'c";
  node.install(type);
  const config = { ...chainOf([]), plugins: [{ type, mark: "$(touch pwned) `id` \\ '" }] };
  await node.succeed("ADD", { config });
  const [call] = node.calls();
  assertEquals(call?.stdin.mark, "$(touch pwned) `id` \\ '");
});
