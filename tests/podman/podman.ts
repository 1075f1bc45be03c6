/**
 * Debian's podman with its CNI back end on a node of the test's own.
 *
 * Unlike `ctr` it passes capability arguments, knows several networks, reads only `.conflist`
 * files, asks each plugin for its VERSION first, and calls DEL with a namespace or without.
 */

import { assertEquals } from "@std/assert";
import { run } from "../netlink/fixture.ts";
import { startNode, type TestNode } from "../node/test_node.ts";

const CONFIG = `[network]
network_backend = "cni"
cni_plugin_dirs = ["/opt/cni/bin"]
network_config_dir = "/etc/cni/net.d"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "none"
`;

/** A node with podman's own directories on it. */
export class PodmanNode implements AsyncDisposable {
  readonly node: TestNode;

  constructor(node: TestNode) {
    this.node = node;
    Deno.writeTextFileSync(this.#config, CONFIG);
  }

  get #config(): string {
    return `${this.node.directory}/containers.conf`;
  }

  /** Runs `podman`, which must succeed: its standard output. */
  async podman(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.#run(args);
    assertEquals(code, 0, `podman ${args.join(" ")}: ${stderr}`);
    return stdout;
  }

  /** Starts a container that runs a shell script, then waits. */
  async start(name: string, options: readonly string[], script: string): Promise<void> {
    const group = ["--cgroup-parent", `/${this.node.sandbox.name}`];
    await this.podman(
      ...["run", "--detach", "--name", name, ...group, ...options],
      ...["--rootfs", this.node.rootfs, "/bin/sh", "-ec", `${script}\nsleep 1000`],
    );
  }

  /** Runs a shell script in a container: its standard output. */
  async exec(name: string, script: string): Promise<string> {
    return await this.podman("exec", name, "/bin/sh", "-ec", script);
  }

  /** Ends a container and removes it. What podman complains about is an error. */
  async remove(name: string): Promise<void> {
    const { code, stderr } = await this.#run(["rm", "--force", "--time", "0", name]);
    assertEquals([code, stderr], [0, ""]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#run(["rm", "--force", "--time", "0", "--all"]);
    await this.node[Symbol.asyncDispose]();
    this.#removeControlGroups();
  }

  /** Podman leaves the empty parent; there is one per hierarchy, as the kernel has them. */
  #removeControlGroups(): void {
    const below = `*/${this.node.sandbox.name}*`;
    run("find", "/sys/fs/cgroup", "-depth", "-type", "d", "-path", below, "-delete");
  }

  async #run(args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
    const state = ["--root", `${this.node.directory}/storage`, "--runroot", "/run/podman"];
    const { code, stdout, stderr } = await this.node.command("podman", [...state, ...args], {
      env: { CONTAINERS_CONF: this.#config },
    }).output();
    const text = new TextDecoder();
    return { code, stdout: text.decode(stdout), stderr: text.decode(stderr) };
  }
}

/** Starts a node for podman. */
export async function startPodman(): Promise<PodmanNode> {
  return new PodmanNode(await startNode());
}
