/**
 * Debian's containerd on a node of the test's own, and its containers with `ctr run --cni`.
 *
 * What `ctr` does (cmd/ctr/commands/run in containerd 1.6): the first file of `/etc/cni/net.d`
 * is the only network, plugins are in `/opt/cni/bin`, no capability arguments are passed, the
 * namespace is `/proc/PID/ns/net`, and DEL comes when the task has ended, with an empty
 * `CNI_NETNS`. Only a `ctr` that stays until then calls DEL, so containers are not detached.
 */

import { assertEquals } from "@std/assert";
import { startNode, TestNode } from "../node/test_node.ts";

const SOCKET = "/run/containerd/containerd.sock";

/** Nothing but what `ctr run --rootfs` uses: no image store, no CRI. */
const CONFIG = `version = 2
disabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.internal.v1.opt"]
`;

/** The daemon is up when it answers; it takes about a second. */
const START_TIMEOUT_MS = 20_000;
const POLL_MS = 50;

/** A node that runs containerd. */
export class ContainerdNode implements AsyncDisposable {
  readonly node: TestNode;
  readonly #daemon: Deno.ChildProcess;

  constructor(node: TestNode, daemon: Deno.ChildProcess) {
    this.node = node;
    this.#daemon = daemon;
  }

  /** Runs `ctr` and waits for its end. */
  async ctr(...args: readonly string[]): Promise<Deno.CommandOutput> {
    return await this.node.command("ctr", [`--address=${SOCKET}`, ...args]).output();
  }

  /** Runs a shell script in a container of its own and returns what it printed. */
  async runToEnd(id: string, script: string): Promise<string> {
    const { code, stdout, stderr } = await this.#runCommand(id, script).output();
    const text = new TextDecoder();
    assertEquals(code, 0, `${text.decode(stderr)}${text.decode(stdout)}`);
    return text.decode(stdout);
  }

  /** Starts a container that runs a shell script until it is disposed of. */
  async start(id: string, script: string): Promise<RunningContainer> {
    const child = this.#runCommand(id, `${script}\necho started; sleep 1000`).spawn();
    const container = new RunningContainer(this, id, child);
    let printed = "";
    const text = new TextDecoder();
    for await (const chunk of child.stdout.values({ preventCancel: true })) {
      printed += text.decode(chunk);
      if (printed.includes("started\n")) return container;
    }
    throw new Error(`Cannot start container ${id}: ${printed}${await container.stop()}`);
  }

  /** Without a control group: it would outlive the node. */
  #runCommand(id: string, script: string): Deno.Command {
    const options = ["--rm", "--cni", "--cgroup=", "--rootfs", this.node.rootfs];
    const args = [`--address=${SOCKET}`, "run", ...options, id, "/bin/sh", "-ec", script];
    return this.node.command("ctr", args, { stdout: "piped", stderr: "piped" });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.node[Symbol.asyncDispose]();
    await this.#daemon.status;
  }
}

/** A container that waits. */
export class RunningContainer implements AsyncDisposable {
  readonly #containerd: ContainerdNode;
  readonly #id: string;
  readonly #child: Deno.ChildProcess;
  #execs = 0;

  constructor(containerd: ContainerdNode, id: string, child: Deno.ChildProcess) {
    this.#containerd = containerd;
    this.#id = id;
    this.#child = child;
  }

  /** Runs a shell script in the container: its standard output. */
  async run(script: string): Promise<string> {
    const exec = `exec${++this.#execs}`;
    const { code, stdout, stderr } = await this.#containerd.ctr(
      ...["task", "exec", "--exec-id", exec, this.#id, "/bin/sh", "-ec", script],
    );
    const text = new TextDecoder();
    assertEquals(code, 0, `${script}: ${text.decode(stdout)}${text.decode(stderr)}`);
    return text.decode(stdout);
  }

  /** The container's address on `eth0`. */
  async address(): Promise<string> {
    const shown = await this.run("ip -4 addr show eth0");
    return /inet ([0-9.]+)\//.exec(shown)?.[1] ?? "";
  }

  /** Ends the task; `ctr` then calls DEL. Returns what it complained about. */
  async stop(): Promise<string> {
    await this.#containerd.ctr("task", "kill", "--signal", "SIGKILL", this.#id);
    const complaints = await new Response(this.#child.stderr).text();
    await this.#child.stdout.cancel();
    await this.#child.status;
    return complaints;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    assertEquals(await this.stop(), "", `ctr about the end of ${this.#id}`);
  }
}

/** Starts a node with containerd on it. */
export async function startContainerd(): Promise<ContainerdNode> {
  const node = await startNode();
  const config = `${node.directory}/containerd.toml`;
  Deno.writeTextFileSync(config, CONFIG);
  const daemon = node.command(
    "containerd",
    ["--config", config, "--root", `${node.directory}/containerd`, "--log-level", "error"],
    { stdout: "null", stderr: "null" },
  ).spawn();
  const started = new ContainerdNode(node, daemon);
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (!(await started.ctr("version")).success) {
    assertEquals(performance.now() < deadline, true, "containerd answers in time");
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return started;
}
