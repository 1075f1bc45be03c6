/** The verbs as on other systems, with their plugins' programs replaced. */

import { assertEquals, assertRejects } from "@std/assert";
import { type RunOptions } from "../../sys/process.ts";
import { temporaryDirectory } from "../../sys/testing.ts";
import { CallNotes } from "../call_notes.ts";
import { type AttachmentCall } from "../dispatch.ts";
import { RemoveError } from "../errors.ts";
import { type ChainPorts } from "./chain_call.ts";
import { DARWIN, type Platform, WINDOWS } from "./platform.ts";
import { add } from "./run_add.ts";
import { check } from "./run_check.ts";
import { del } from "./run_del.ts";
import { gc } from "./run_gc.ts";
import { status } from "./run_status.ts";

const SUBNET: Readonly<Record<string, string>> = {
  HEADCNI_NETWORK: "10.1.0.0/16",
  HEADCNI_SUBNET: "10.1.17.1/24",
  HEADCNI_MTU: "1400",
  HEADCNI_IPMASQ: "true",
};

const RESULT = { cniVersion: "1.1.0", ips: [{ address: "10.1.17.2/24" }] };
const VERSIONS = { cniVersion: "1.1.0", supportedVersions: ["1.1.0"] };

/** A call as the dispatcher makes it, for a container that joins the sandbox `pod`. */
function callOf(dataDir: string, path: string, raw: Record<string, unknown>): AttachmentCall {
  const netns = "container:pod";
  return {
    version: "1.1.0",
    notes: new CallNotes("ADD"),
    leftMs: () => 10_000,
    config: { cniVersion: "1.1.0", name: "net", raw: { name: "net", dataDir, ...raw } },
    io: {
      env: (name) => name === "CNI_PATH" ? path : SUBNET[name],
      readStdin: () => "",
      stdout: { write: () => {} },
      stderr: { write: () => {} },
    },
    parameters: {
      containerId: "c1",
      netns,
      ifname: "eth0",
      args: "",
      path: [],
      allowOwnNetns: false,
    },
  };
}

/** Ports of a system on which plugins answer, unless they are told to fail. */
function portsOf(platform: Platform, failing: { verb?: string } = {}) {
  const calls: string[] = [];
  const file = { kind: "file", size: 1, mode: 0o755, uid: 0, gid: 0, modifiedMs: 0 } as const;
  const ports: ChainPorts = {
    platform,
    exec: {
      files: { stat: (path) => /(win-bridge\.exe|vmnet)$/.test(path) ? file : undefined },
      run: (program: string, _args: readonly string[], options: RunOptions = {}) => {
        const verb = options.env?.CNI_COMMAND ?? "";
        calls.push(`${verb} ${program}`);
        const printed = { ADD: RESULT, VERSION: VERSIONS }[verb];
        return Promise.resolve({
          code: failing.verb === verb ? 1 : 0,
          signal: undefined,
          stdout: printed === undefined ? "" : JSON.stringify(printed),
          stderr: "",
          durationMs: 1,
        });
      },
    },
  };
  return { calls, ports };
}

const SYSTEMS = [
  {
    platform: WINDOWS,
    path: "D:\\none;C:\\cni",
    program: "D:\\none/win-bridge.exe",
    delegate: {},
  },
  { platform: DARWIN, path: "/none:/opt", program: "/none/vmnet", delegate: { type: "vmnet" } },
];

for (const { platform, path, program, delegate } of SYSTEMS) {
  Deno.test(`all verbs go through the chain on ${platform.name}`, async () => {
    using directory = temporaryDirectory();
    const { calls, ports } = portsOf(platform);
    const call = callOf(directory.path, path, { delegate });
    await status(call, ports);
    assertEquals(await add(call, ports), RESULT);
    const checked = callOf(directory.path, path, { delegate, prevResult: RESULT });
    await check(checked, ports);
    const list = { "cni.dev/valid-attachments": [{ containerID: "c1", ifname: "eth0" }] };
    await gc(callOf(directory.path, path, { delegate, ...list }), ports);
    await del(call, ports);
    assertEquals(
      calls,
      ["STATUS", "ADD", "CHECK", "VERSION", "GC", "DEL"].map((verb) => `${verb} ${program}`),
    );
  });
}

Deno.test("a DEL that fails on Windows names the endpoint that may be left", async () => {
  using directory = temporaryDirectory();
  const failing: { verb?: string } = {};
  const { ports } = portsOf(WINDOWS, failing);
  const call = callOf(directory.path, "C:\\cni", { delegate: {} });
  await add(call, ports);
  failing.verb = "DEL";
  const error = await assertRejects(() => del(call, ports), RemoveError);
  assertEquals(error.remedy, "Repeat the DEL; what may be left is HNS endpoint pod_net");
  delete failing.verb;
  await del(call, ports);
});
