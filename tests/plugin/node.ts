/** A node: a namespace the compiled plugin runs in, with pods and, if wanted, an internet. */

import { assert, assertEquals } from "@std/assert";
import { PROGRAM } from "../binary/program.ts";
import { configOf } from "./config.ts";
import { type Command, type Ending, execute, type Json, Namespace } from "./namespace.ts";
import { type Snapshot, takeSnapshot } from "./snapshot.ts";

/** The verbs of the specification. */
export type Verb = "ADD" | "DEL" | "CHECK" | "GC" | "STATUS" | "VERSION";

/** What a runtime passes with a call. */
export interface Call {
  /** An object is passed as JSON, a text as it is. */
  readonly config?: Json | string;
  readonly containerId?: string;
  readonly ifname?: string;
  readonly netns?: string;
  readonly args?: string;
  /** Further variables; they replace those above. */
  readonly env?: Readonly<Record<string, string>>;
  /** Put in front of the program: a tracer, say. */
  readonly before?: readonly string[];
  /** Shell commands that change the mounts the plugin sees, and only it. */
  readonly mounts?: string;
  readonly onStart?: Command["onStart"];
}

/** What the plugin answered. */
export interface Answer extends Ending {
  /** The one JSON value on standard output; `undefined` if that is empty. */
  readonly value: Json | undefined;
}

/** Where the node meets the internet, and what answers there. */
export const INTERNET = {
  node4: "198.51.100.1",
  node6: "2001:db8:51::1",
  host4: "198.51.100.2",
  host6: "2001:db8:51::2",
} as const;

/** Options of {@linkcode openNode}. */
export interface NodeOptions {
  /** Gives the node an uplink; who is there knows no way back to pods. */
  readonly internet?: boolean;
}

/** A node with pods. */
export class Node extends Namespace implements AsyncDisposable {
  /** Where the plugin keeps its state. */
  readonly dataDir: string = Deno.makeTempDirSync({ prefix: "headcni-test-" });
  readonly #others: Namespace[] = [];
  #count = 0;

  /** What is at the other end of the uplink. */
  internet(): Namespace {
    const [internet] = this.#others.filter(({ name }) => name.startsWith("hcnt-net-"));
    assert(internet, "the node has no uplink");
    return internet;
  }

  /** A new namespace on this machine: a pod's, or somebody else's. */
  namespace(kind = "pod"): Namespace {
    const namespace = new Namespace(kind);
    this.#others.push(namespace);
    return namespace;
  }

  /** A new pod, not attached to anything. */
  async pod(): Promise<Pod> {
    const namespace = this.namespace();
    await namespace.configure("link set lo up");
    return new Pod(this, namespace, `pod-${++this.#count}`);
  }

  /** Calls the plugin as a runtime does: inside the node, with an environment of its own. */
  call(verb: Verb | string, call: Call = {}): Promise<Answer> {
    const { containerId, ifname, netns, args, env } = call;
    const isAboutPod = ["ADD", "DEL", "CHECK"].includes(verb);
    return this.callExactly(verb, {
      ...call,
      env: {
        CNI_PATH: "/opt/cni/bin",
        ...(isAboutPod ? { CNI_IFNAME: ifname ?? "eth0" } : {}),
        ...(containerId === undefined ? {} : { CNI_CONTAINERID: containerId }),
        ...(netns === undefined ? {} : { CNI_NETNS: netns }),
        ...(args === undefined ? {} : { CNI_ARGS: args }),
        ...env,
      },
    });
  }

  /** Calls the plugin with the variables of `env` and no others of the specification. */
  async callExactly(
    verb: string,
    call: Pick<Call, "config" | "env" | "before" | "mounts" | "onStart">,
  ): Promise<Answer> {
    const { config = configOf(), env, before = [], mounts, onStart } = call;
    const ending = await execute({
      command: this.inside(
        ...mounts === undefined ? [] : ["unshare", "-m", "sh", "-c", `${mounts} && exec "$0"`],
        ...before,
        PROGRAM,
      ),
      stdin: typeof config === "string" ? config : JSON.stringify(config),
      env: {
        PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
        HEADCNI_DATA_DIR: this.dataDir,
        HEADCNI_DAEMON_SOCKET: "", // the machine's own daemon has nothing to do with this node
        CNI_COMMAND: verb,
        ...env,
      },
      ...(onStart === undefined ? {} : { onStart }),
    });
    return { ...ending, value: parseOnly(ending.stdout) };
  }

  /** A call that must succeed: what it printed. */
  async succeed(verb: Verb, call: Call = {}): Promise<Json> {
    const { code, stdout, stderr, value } = await this.call(verb, call);
    assertEquals(code, 0, `${verb}: ${stdout}${stderr}`);
    return value ?? {};
  }

  /** A call that must fail: its error object. */
  async fail(verb: Verb, call: Call = {}): Promise<Json> {
    const { code, value, stdout } = await this.call(verb, call);
    assertEquals(code, 1, `${verb} did not fail: ${stdout}`);
    assert(value, `${verb} failed without an error object`);
    return value;
  }

  /** The node as it is now. */
  snapshot(): Promise<Snapshot> {
    return takeSnapshot(this, this.dataDir);
  }

  /**
   * One ADD and DEL, so that what the plugin makes once per node is there: the base ruleset,
   * the database.
   */
  async warmUp(config: Json = configOf()): Promise<Snapshot> {
    const pod = await this.pod();
    await pod.add(config);
    await pod.del(config);
    return await this.snapshot();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const namespace of this.#others) namespace[Symbol.dispose]();
    this[Symbol.dispose]();
    await Deno.remove(this.dataDir, { recursive: true });
  }
}

/** A container of a node; its interface is called `eth0` unless said otherwise. */
export class Pod {
  constructor(
    readonly node: Node,
    readonly namespace: Namespace,
    readonly containerId: string,
  ) {}

  /** The variables of a call about this pod. */
  about(config: Json, more: Call = {}): Call {
    return { config, containerId: this.containerId, netns: this.namespace.path, ...more };
  }

  /** ADD that must succeed: its result. */
  add(config: Json = configOf(), more: Call = {}): Promise<Json> {
    return this.node.succeed("ADD", this.about(config, more));
  }

  /** DEL that must succeed. */
  async del(config: Json = configOf(), more: Call = {}): Promise<void> {
    await this.node.succeed("DEL", this.about(config, more));
  }

  /** CHECK of what ADD told. */
  check(config: Json, prevResult: Json, more: Call = {}): Promise<Answer> {
    return this.node.call("CHECK", this.about({ ...config, prevResult }, more));
  }
}

/** Makes a node. */
export async function openNode({ internet = false }: NodeOptions = {}): Promise<Node> {
  const node = new Node("node");
  try {
    await node.configure("link set lo up");
    if (internet) await connect(node, node.namespace("net"));
  } catch (error) {
    await node[Symbol.asyncDispose]();
    throw error;
  }
  return node;
}

/** With link-local addresses of our own: the kernel's would change while a test runs. */
async function connect(node: Node, internet: Namespace): Promise<void> {
  const { node4, node6, host4, host6 } = INTERNET;
  await node.configure(
    `link add uplink type veth peer name eth0 netns ${internet.name}`,
    "link set uplink addrgenmode none",
    "link set uplink up",
    `address add ${node4}/24 dev uplink`,
    `address add ${node6}/64 dev uplink nodad`,
    "address add fe80::a/64 dev uplink nodad",
  );
  await internet.configure(
    "link set lo up",
    "link set eth0 addrgenmode none",
    "link set eth0 up",
    `address add ${host4}/24 dev eth0`,
    `address add ${host6}/64 dev eth0 nodad`,
    "address add fe80::b/64 dev eth0 nodad",
  );
  await node.configure(`route add default via ${host4}`, `route add default via ${host6}`);
}

/** The plugin prints one JSON value or nothing (SPEC, "Section 2"); anything else throws here. */
function parseOnly(stdout: string): Json | undefined {
  return stdout === "" ? undefined : JSON.parse(stdout);
}
