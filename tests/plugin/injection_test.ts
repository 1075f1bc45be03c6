/**
 * Hostile text wherever a caller can put text: nothing is executed, nothing is written outside
 * the data directory, and the answer is an error of the caller's or a harmless success.
 */

import { assert, assertEquals } from "@std/assert";
import { temporaryDirectory } from "../binary/program.ts";
import { requires, tool } from "../requires.ts";
import { configOf, ipam, SUBNET4 } from "./config.ts";
import { type Json } from "./namespace.ts";
import { NEEDS } from "./needs.ts";
import { type Call, type Node, openNode } from "./node.ts";
import { inParallel } from "./parallel.ts";
import { assertSameNode } from "./snapshot.ts";
import { readTrace, tracing } from "./trace.ts";

const TRACED = { ignore: NEEDS.ignore || requires(tool("strace")).ignore };

/** Text for shells, paths, nft, SQL, JSON, format strings and terminals. */
const HOSTILE: readonly string[] = [
  "../../../../tmp/hcnt-planted",
  "/tmp/hcnt-planted",
  "%2e%2e%2fx",
  "$(touch /tmp/hcnt-planted)",
  "x; touch /tmp/hcnt-planted",
  "-x",
  "x\nadd table inet planted",
  'x" ; flush ruleset ; "',
  "x'); DROP TABLE attachment; --",
  '{"code":0}',
  "%s%n%d",
  "\u001b[2J\u001b]0;planted\u0007",
  "x".repeat(4096),
  "__proto__",
  "\ud83d\ude00",
];

/** A place where a caller can put text. */
interface Place {
  readonly put: (text: string) => Call;
  /** Codes an error may have; a success is fine where text is only passed on. */
  readonly codes: readonly number[];
  readonly mayPass?: true;
}

const config = (more: Json): Call => ({ config: configOf("IPv4", more) });

const PLACES: Readonly<Record<string, Place>> = {
  "the container id": {
    put: (text) => ({ containerId: text }),
    codes: [4],
    mayPass: true, // "__proto__" is none, but "x".repeat(4096) is one
  },
  "the interface": { put: (text) => ({ ifname: text }), codes: [4], mayPass: true },
  "the namespace": { put: (text) => ({ netns: text }), codes: [8] },
  "the network's name": {
    put: (text) => config({ name: text }),
    codes: [7],
    mayPass: true,
  },
  "a pod's name": {
    put: (text) => ({ args: `K8S_POD_NAMESPACE=${text};K8S_POD_NAME=${text};K8S_POD_UID=${text}` }),
    codes: [],
    mayPass: true,
  },
  "a key of CNI_ARGS": { put: (text) => ({ args: `${text}=1` }), codes: [], mayPass: true },
  "IP of CNI_ARGS": { put: (text) => ({ args: `IP=${text}` }), codes: [4, 7] },
  "MAC of CNI_ARGS": { put: (text) => ({ args: `MAC=${text}` }), codes: [4] },
  "CNI_PATH": { put: (text) => ({ env: { CNI_PATH: text } }), codes: [], mayPass: true },
  "cniVersion": { put: (text) => config({ cniVersion: text }), codes: [1] },
  "mode": { put: (text) => config({ mode: text }), codes: [7] },
  "pod_cidr": { put: (text) => config({ ipam: undefined, pod_cidr: text }), codes: [7] },
  "ipam.subnet": { put: (text) => config({ ipam: ipam([text]) }), codes: [7] },
  "a route": {
    put: (text) => config({ ipam: ipam([SUBNET4], { routes: [{ dst: text }] }) }),
    codes: [7],
  },
  "a name server": { put: (text) => config({ dns: { nameservers: [text] } }), codes: [7] },
  "a search domain": {
    put: (text) => config({ dns: { search: [text], options: [text] } }),
    codes: [],
    mayPass: true,
  },
  "a host port's address": {
    put: (text) =>
      config({
        runtimeConfig: { portMappings: [{ hostPort: 1, containerPort: 1, hostIP: text }] },
      }),
    codes: [7],
  },
  "a host port's protocol": {
    put: (text) =>
      config({
        runtimeConfig: { portMappings: [{ hostPort: 1, containerPort: 1, protocol: text }] },
      }),
    codes: [7],
  },
  "a hardware address": { put: (text) => config({ runtimeConfig: { mac: text } }), codes: [7] },
  "a requested address": { put: (text) => config({ runtimeConfig: { ips: [text] } }), codes: [7] },
  "the bytes of a previous result": {
    put: (text) =>
      config({ prevResult: { cniVersion: "1.1.0", interfaces: [{ name: text, sandbox: text }] } }),
    codes: [],
    mayPass: true,
  },
  "an unknown key": { put: (text) => config({ [text]: text }), codes: [], mayPass: true },
};

/** Places whose text decides where files are. */
const FILES: Readonly<Record<string, (text: string) => Json>> = {
  dataDir: (text) => ({ dataDir: text }),
  "ipam.dataDir": (text) => ({ ipam: ipam([SUBNET4], { dataDir: text }) }),
  logFile: (text) => ({ logFile: text }),
  tailscale_socket: (text) => ({ tailscale_socket: text }),
  "ipam.resolvConf": (text) => ({ ipam: ipam([SUBNET4], { resolvConf: text }) }),
};

/** Calls ADD, watches it, and DEL if it succeeded. */
async function callWatched(node: Node, call: Call, trace: string): Promise<string | undefined> {
  const pod = await node.pod();
  const full = { ...pod.about(configOf()), ...call };
  const { code, value, stdout } = await node.call("ADD", { ...full, before: tracing(trace) });
  if (code === 0) await node.succeed("DEL", full);
  const { started, written } = readTrace(await Deno.readTextFile(trace));
  assert(started.length > 0, "strace saw nothing");
  assertEquals(started.slice(1), [], "programs were started");
  const outside = written.filter((path) => !isAllowed(path, node.dataDir));
  assertEquals(outside, [], "files were made or written");
  assert(value, `no JSON on standard output: ${stdout}`);
  assertEquals(value.code === 999, false, stdout);
  return value.code;
}

/** The data directory, settings of the kernel, and what is no file. */
function isAllowed(path: string, dataDir: string): boolean {
  return path.startsWith(`${dataDir}/`) || path.startsWith("/proc/sys/net/") ||
    ["/dev/null", "/dev/tty", "/proc/self/comm"].includes(path) ||
    /^\/proc\/(self|\d+)\/task\/\d+\/comm$/.test(path);
}

for (const [place, { put, codes, mayPass }] of Object.entries(PLACES)) {
  Deno.test({
    ...TRACED,
    name: `hostile text as ${place} changes and starts nothing`,
    async fn(test) {
      await using node = await openNode();
      await using directory = temporaryDirectory();
      const before = await node.warmUp();
      const outcomes = await inParallel(HOSTILE, 4, async (text, at) => {
        try {
          return await callWatched(node, put(text), `${directory.path}/${at}`);
        } catch (error) {
          return error;
        }
      });
      for (const [at, text] of HOSTILE.entries()) {
        await test.step(JSON.stringify(text.slice(0, 40)), () => {
          const outcome = outcomes[at];
          if (outcome instanceof Error) throw outcome;
          const isGood = outcome === undefined ? mayPass : codes.includes(Number(outcome));
          assert(isGood, `answered with code ${outcome}`);
        });
      }
      assertSameNode(await node.snapshot(), before);
      assertEquals(await Deno.stat("/tmp/hcnt-planted").catch(() => "absent"), "absent");
    },
  });
}

Deno.test({
  ...TRACED,
  name: "hostile paths in the configuration are refused, and nothing is made there",
  async fn(test) {
    await using node = await openNode();
    await using directory = temporaryDirectory();
    const before = await node.warmUp();
    const relative = HOSTILE.filter((text) => !text.startsWith("/"));
    for (const [key, make] of Object.entries(FILES)) {
      await test.step(key, async () => {
        const outcomes = await inParallel(relative, 4, async (text, at) => {
          return await callWatched(node, config(make(text)), `${directory.path}/${at}`);
        });
        for (const [at, code] of outcomes.entries()) {
          assert(Number(code) > 0, `${JSON.stringify(relative[at]?.slice(0, 40))} was taken`);
        }
      });
    }
    assertSameNode(await node.snapshot(), before);
  },
});

Deno.test({
  ...TRACED,
  name: "the tracer sees what the first ADD of a node starts and writes",
  async fn() {
    await using node = await openNode();
    await using directory = temporaryDirectory();
    const file = `${directory.path}/trace`;
    const pod = await node.pod();
    await node.succeed("ADD", { ...pod.about(configOf()), before: tracing(file) });
    const { started, written } = readTrace(await Deno.readTextFile(file));
    assertEquals(started.map((path) => path.replace(/.*\//, "")), ["headcni", "nft"]);
    assert(written.includes(`${node.dataDir}/headcni.db`), `${written}`);
    assertEquals(written.filter((path) => !isAllowed(path, node.dataDir)), []);
  },
});

Deno.test({
  ...NEEDS,
  name: "an argument of a hostile size is an error, never a crash",
  async fn() {
    await using node = await openNode();
    const pod = await node.pod();
    const deep = `${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}`;
    const wide = JSON.stringify({ ...configOf(), junk: "x".repeat(8 << 20) });
    const texts = [
      `{"cniVersion":"1.1.0","name":"testnet","type":"headcni","prevResult":${deep}}`,
      JSON.stringify({ ...configOf(), prevResult: 0 }).replace('"prevResult":0', `"x":${deep}`),
      "[".repeat(1 << 20),
      "\ufeff" + JSON.stringify(configOf()),
      wide,
    ];
    for (const text of texts) {
      const { code, value, signal, stderr } = await node.call("ADD", {
        ...pod.about({}),
        config: text,
      });
      assertEquals([signal, stderr], [null, ""], text.slice(0, 60));
      assert(value !== undefined, text.slice(0, 60));
      if (code === 0) await pod.del();
      else assert(value.code !== 999, `${value.msg} ${text.slice(0, 60)}`);
    }
  },
});
