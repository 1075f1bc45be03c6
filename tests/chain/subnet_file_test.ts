/** The subnet file as a user meets it: where it is looked for, and what is told if it is wrong. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { type Json } from "../plugin/namespace.ts";
import { FakeNode, resultOf } from "./fake_plugins.ts";

const LINES: Readonly<Record<string, string>> = {
  HEADCNI_NETWORK: "10.91.0.0/16",
  HEADCNI_SUBNET: "10.91.4.1/24",
  HEADCNI_MTU: "1380",
  HEADCNI_IPMASQ: "true",
};

function textOf(lines: Readonly<Record<string, string>>): string {
  return Object.entries(lines).map(([key, value]) => `${key}=${value}\n`).join("");
}

function configOf(node: FakeNode, more: Json = {}): Json {
  const subnetFile = `${node.directory}/subnet.env`;
  return {
    cniVersion: "1.1.0",
    name: "fakenet",
    type: "headcni",
    subnetFile,
    delegate: {},
    ...more,
  };
}

/** A node whose only plugins are called as those of a delegate are. */
function openNode(): FakeNode {
  const node = new FakeNode(["bridge", "ptp"]);
  node.answer("bridge", "ADD", JSON.stringify(resultOf("bridge")));
  return node;
}

Deno.test("a delegate gets what the subnet file says", async () => {
  await using node = openNode();
  const config = configOf(node);
  Deno.writeTextFileSync(config.subnetFile, textOf(LINES));
  await node.succeed("ADD", { config });
  const [call] = node.calls();
  assertEquals(call?.stdin, {
    cniVersion: "1.1.0",
    name: "fakenet",
    type: "bridge",
    ipMasq: false,
    mtu: 1380,
    isGateway: true,
    ipam: {
      type: "host-local",
      ranges: [[{ subnet: "10.91.4.0/24" }]],
      routes: [{ dst: "10.91.0.0/16", gw: "10.91.4.1" }],
    },
  });
  // The file changes, and goes; what was written down is what is deleted.
  Deno.removeSync(config.subnetFile);
  await node.succeed("DEL", { config: { ...config, delegate: { type: "ptp" } } });
  const [deleted] = node.calls();
  assertEquals(deleted?.name, "DEL bridge");
  assertEquals(deleted?.stdin.ipam, call?.stdin.ipam);
});

Deno.test("HEADCNI_SUBNET_FILE names the file, and other variables are stronger than its lines", async () => {
  await using node = openNode();
  const { subnetFile, ...config } = configOf(node);
  Deno.writeTextFileSync(subnetFile, textOf(LINES));
  const env = { HEADCNI_SUBNET_FILE: subnetFile, HEADCNI_MTU: "1290" };
  await node.succeed("ADD", { config, env });
  const [call] = node.calls();
  assertEquals([call?.stdin.mtu, call?.stdin.ipMasq], [1290, false]);
  await node.succeed("DEL", { config, env });
  node.calls();
  await node.succeed("ADD", {
    config,
    env: { ...LINES, HEADCNI_SUBNET_FILE: "/nowhere/subnet.env" },
  });
  assertEquals(node.names(), ["ADD bridge"]);
});

Deno.test("without the file: try again later, not ready, and still deleted", async () => {
  await using node = openNode();
  const config = configOf(node);
  const error = await node.fail("ADD", { config });
  assertEquals([error.code, error.msg], [
    11,
    `Cannot use subnet file ${config.subnetFile}: it does not exist`,
  ]);
  assertStringIncludes(error.details, "Start headcni daemon");
  const status = await node.fail("STATUS", { config });
  assertEquals(status.code, 50);
  assertStringIncludes(status.msg, config.subnetFile);
  await node.succeed("DEL", { config });
  assertEquals(node.names(), []);
});

Deno.test("with a wrong file: one error that lists all that is wrong", async () => {
  await using node = openNode();
  const config = configOf(node);
  Deno.writeTextFileSync(
    config.subnetFile,
    "HEADCNI_SUBNET=10.91.4/24\nHEADCNI_MTU=big\nHEADCNI_IPMASQ\n",
  );
  const error = await node.fail("ADD", { config });
  assertEquals([error.code, node.names()], [7, []]);
  for (const part of ["HEADCNI_NETWORK", "HEADCNI_SUBNET: ", "HEADCNI_MTU is", "line 3"]) {
    assertStringIncludes(error.msg, part);
  }
});

Deno.test("delegate and plugins at once are refused, by name", async () => {
  await using node = openNode();
  const error = await node.fail("ADD", { config: configOf(node, { plugins: [{ type: "ptp" }] }) });
  assertEquals(error.code, 7);
  assertStringIncludes(error.msg, "delegate and plugins are both there");
});
