/** What the daemon hears of a call, and that nothing it does is felt by the call. */

import { assert, assertEquals } from "@std/assert";
import { requires, tool } from "../requires.ts";
import { configOf } from "./config.ts";
import { type Json } from "./namespace.ts";
import { NEEDS } from "./needs.ts";
import { type Call, type Node, openNode } from "./node.ts";

const needs = { ignore: NEEDS.ignore || requires(tool("setpriv", "util-linux")).ignore };

/** Binds a datagram socket, then prints each datagram as a line. Deno's own is unstable. */
const READER = `
  use Socket;
  $| = 1;
  socket(S, AF_UNIX, SOCK_DGRAM, 0) && bind(S, pack_sockaddr_un($ARGV[0])) or die;
  print "ready\\n";
  while (defined recv(S, my $text, 65536, 0)) { print "$text\\n" }`;

/** A program that holds a socket, and what it printed. */
class Receiver implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #lines: ReadableStreamDefaultReader<string>;
  #rest = "";

  constructor(script: string, path: string) {
    this.#child = new Deno.Command("perl", {
      args: ["-e", script, path],
      stdin: "null",
      stdout: "piped",
    }).spawn();
    this.#lines = this.#child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  }

  /** The next line. */
  async line(): Promise<string> {
    while (!this.#rest.includes("\n")) {
      const { value, done } = await this.#lines.read();
      assert(!done, `it ended after ${JSON.stringify(this.#rest)}`);
      this.#rest += value;
    }
    const [line = "", ...rest] = this.#rest.split("\n");
    this.#rest = rest.join("\n");
    return line;
  }

  /** The next hint; `phasesMs` is looked at apart. */
  async hint(): Promise<Json> {
    return JSON.parse(await this.line());
  }

  /** It is there, but does nothing any more. */
  freeze(): void {
    this.#child.kill("SIGSTOP");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#child.status;
    await this.#lines.cancel();
  }
}

async function receive(script: string, path: string): Promise<Receiver> {
  const receiver = new Receiver(script, path);
  assertEquals(await receiver.line(), "ready");
  return receiver;
}

Deno.test({
  ...needs,
  name: "the daemon hears of ADD and DEL: who, which addresses, how long each phase took",
  async fn() {
    await using node = await openNode();
    const socket = `${node.dataDir}/hint.sock`;
    await using daemon = await receive(READER, socket);
    const pod = await node.pod();
    const config = configOf("dual-stack", { daemonSocket: socket, enable_network_policy: true });
    const args = "IgnoreUnknown=1;K8S_POD_NAMESPACE=web;K8S_POD_NAME=front-0;K8S_POD_UID=77";
    const result = await pod.add(config, { args });
    const about = {
      version: 1,
      outcome: "success",
      network: "testnet",
      containerId: pod.containerId,
      ifname: "eth0",
      netns: pod.namespace.path,
      pod: { namespace: "web", name: "front-0", uid: "77" },
      addresses: result.ips.map(({ address }: Json) => address.replace(/\/.*/, "")),
      networkPolicy: true,
    };
    const { phasesMs: added, ...add } = await daemon.hint();
    assertEquals(add, { ...about, verb: "ADD" });
    assertPhases(added, ["start", "config", "allocate", "link", "filter", "configure", "end"]);
    await pod.del(config, { args });
    const { phasesMs: deleted, ...del } = await daemon.hint();
    assertEquals(del, { ...about, verb: "DEL" });
    assertPhases(deleted, ["start", "config", "remove", "release", "end"]);
    // The other verbs change nothing it should know; the next hint is of an ADD.
    await node.succeed("STATUS", { config });
    await node.succeed("GC", { config });
    await pod.add(config);
    assertEquals((await daemon.hint()).verb, "ADD");
  },
});

/** In this order, and `total` is what they come to. */
function assertPhases(phases: Json, names: readonly string[]): void {
  assertEquals(Object.keys(phases), [...names, "total"]);
  const { total, ...parts } = phases;
  const sum = Object.values(parts).reduce((all: number, ms) => all + Number(ms), 0);
  assert(Math.abs(total - sum) < 0.1, `${total} is not the sum of ${JSON.stringify(parts)}`);
}

Deno.test({
  ...needs,
  name: "the daemon hears of an ADD that failed, with class and number of the error",
  async fn() {
    await using node = await openNode();
    const socket = `${node.dataDir}/hint.sock`;
    await using daemon = await receive(READER, socket);
    const pod = await node.pod();
    const env = { HEADCNI_DAEMON_SOCKET: socket };
    await node.fail("ADD", { ...pod.about(configOf("IPv4", { mtu: 1 })), env });
    const { verb, outcome, error, containerId } = await daemon.hint();
    assertEquals([verb, outcome, containerId], ["ADD", "failure", pod.containerId]);
    assertEquals(error, { class: "ConfigError", code: 7 });
    // Not even the configuration was read.
    await node.fail("ADD", { env, containerId: "c1" });
    const early = await daemon.hint();
    assertEquals(early.error, { class: "EnvironmentError", code: 4 });
    await node.fail("DEL", { env, containerId: "c1", ifname: "a/b" });
    assertEquals((await daemon.hint()).verb, "DEL");
  },
});

/** Binds like {@linkcode READER}, fills its own queue, and reads nothing. */
const FULL = `
  use Socket;
  $| = 1;
  socket(S, AF_UNIX, SOCK_DGRAM, 0) && bind(S, pack_sockaddr_un($ARGV[0])) or die;
  socket(T, AF_UNIX, SOCK_DGRAM, 0) or die;
  1 while defined send(T, "x" x 1000, 0x40, pack_sockaddr_un($ARGV[0])); # MSG_DONTWAIT
  print "ready\\n";
  sleep 1000;`;

/** Nobody ever accepts; the backlog is full, too. */
const STREAM = `
  use Socket;
  $| = 1;
  socket(S, AF_UNIX, SOCK_STREAM, 0) && bind(S, pack_sockaddr_un($ARGV[0])) or die;
  listen(S, 0) or die;
  print "ready\\n";
  sleep 1000;`;

/** What a call may find in the daemon's place; sets it up in `node` and returns the path. */
type Obstacle = (node: Node, stack: AsyncDisposableStack) => Promise<string> | string;

async function held(script: string, node: Node, stack: AsyncDisposableStack): Promise<string> {
  const path = `${node.dataDir}/held.sock`;
  stack.use(await receive(script, path));
  return path;
}

const OBSTACLES: Readonly<Record<string, Obstacle>> = {
  "nothing": ({ dataDir }) => `${dataDir}/none.sock`,
  "a file": ({ dataDir }) => {
    Deno.writeTextFileSync(`${dataDir}/file`, "");
    return `${dataDir}/file`;
  },
  "a directory": ({ dataDir }) => dataDir,
  "something below a file": ({ dataDir }) => {
    Deno.writeTextFileSync(`${dataDir}/file`, "");
    return `${dataDir}/file/none.sock`;
  },
  "a pipe nobody reads": async (node) => {
    await node.run("mkfifo", `${node.dataDir}/pipe`);
    return `${node.dataDir}/pipe`;
  },
  "a link that leads in a circle": ({ dataDir }) => {
    Deno.symlinkSync(`${dataDir}/circle`, `${dataDir}/circle`);
    return `${dataDir}/circle`;
  },
  "a path too long for a socket": ({ dataDir }) => `${dataDir}/${"x".repeat(120)}`,
  "a socket whose owner died": async ({ dataDir }) => {
    await using _ = await receive(READER, `${dataDir}/dead.sock`);
    return `${dataDir}/dead.sock`;
  },
  "a stream socket nobody accepts from": (node, stack) => held(STREAM, node, stack),
  "a queue that is full": (node, stack) => held(FULL, node, stack),
  "a reader that hangs": async ({ dataDir }, stack) => {
    const reader = stack.use(await receive(READER, `${dataDir}/hung.sock`));
    reader.freeze();
    return `${dataDir}/hung.sock`;
  },
};

for (const [name, prepare] of Object.entries(OBSTACLES)) {
  Deno.test({
    ...needs,
    name: `ADD and DEL answer as ever where the daemon should be: ${name}`,
    async fn() {
      await using node = await openNode();
      await using stack = new AsyncDisposableStack();
      await assertUndisturbed(node, await prepare(node, stack));
    },
  });
}

Deno.test({
  ...needs,
  name: "ADD and DEL answer as ever where they may not write to the daemon",
  async fn() {
    await using node = await openNode();
    const socket = `${node.dataDir}/hint.sock`;
    await using _daemon = await receive(READER, socket);
    Deno.chmodSync(socket, 0);
    Deno.chownSync(socket, 65534, 65534);
    // Root may write anywhere, unless it is told that it may not.
    await assertUndisturbed(node, socket, {
      before: ["setpriv", "--bounding-set=-dac_override,-dac_read_search"],
    });
  },
});

async function assertUndisturbed(node: Node, daemonSocket: string, more: Call = {}): Promise<void> {
  const pod = await node.pod();
  const config = configOf("IPv4", { daemonSocket });
  const added = await node.call("ADD", pod.about(config, more));
  assertEquals([added.code, added.stderr, added.value?.ips.length], [0, "", 1]);
  const again = await node.call("ADD", pod.about(config, more));
  assertEquals([again.code, again.stderr, again.value?.code], [1, "", 104]);
  const deleted = await node.call("DEL", pod.about(config, more));
  assertEquals([deleted.code, deleted.stdout, deleted.stderr], [0, "", ""]);
}
