/**
 * A node of a test's own: its network, mounts and processes are apart from the machine's.
 *
 * Container runtimes have fixed places (`/etc/cni`, `/opt/cni`, `/run/containerd`), and they
 * leave daemons behind. Here those places are the test's, seen by nobody else, and everything
 * that was started ends with the node: it is the child of a process that is the node's init.
 */

import { assertEquals } from "@std/assert";
import { PROGRAM } from "../binary/program.ts";
import { run, Sandbox } from "../netlink/fixture.ts";

/**
 * Runs as the node's first process. Layers over the machine's directories give mount points
 * that the machine need not have; they are in memory, since a layer cannot lie on a layer.
 * Not `ip netns exec`: it mounts /sys anew and hides the control groups from runc.
 */
const INIT = `
set -e
mount --make-rprivate /
umount --lazy --recursive /run/netns # other tests' namespaces must end when they say so
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs "$0/layers"
for directory in /etc /opt /var/lib; do
  layer="$0/layers$directory"
  mkdir -p "$layer/upper" "$layer/work"
  mount -t overlay overlay -o "lowerdir=$directory,upperdir=$layer/upper,workdir=$layer/work" \\
    "$directory"
done
for directory in /etc/cni /opt/cni /var/lib/cni; do
  mkdir -p "$directory"
  mount --bind "$0/cni$directory" "$directory"
done
echo ready
cat >/dev/null # until the test closes our standard input
`;

/** Directories of {@linkcode INIT}. */
const DIRECTORIES = [
  "layers",
  "cni/etc/cni/net.d",
  "cni/opt/cni/bin",
  "cni/var/lib/cni",
  "rootfs/bin",
  "rootfs/dev",
  "rootfs/etc",
  "rootfs/proc",
  "rootfs/run",
  "rootfs/sys",
  "rootfs/tmp",
  "rootfs/www/cgi-bin",
];

/** A conflist with one plugin: ours. */
export interface Network {
  readonly name: string;
  /** Keys of the plugin beside `type`. */
  readonly plugin: Readonly<Record<string, unknown>>;
  /** @default {"1.0.0"} */
  readonly cniVersion?: string;
}

/** See the top of this file. */
export class TestNode implements AsyncDisposable {
  readonly directory: string;
  readonly sandbox: Sandbox;
  readonly #init: Deno.ChildProcess;
  readonly #pid: number;

  /** Use {@linkcode startNode}. */
  constructor(parts: { directory: string; sandbox: Sandbox; init: Deno.ChildProcess }) {
    this.directory = parts.directory;
    this.sandbox = parts.sandbox;
    this.#init = parts.init;
    const { pid } = parts.init;
    this.#pid = Number(Deno.readTextFileSync(`/proc/${pid}/task/${pid}/children`));
  }

  /** A root file system with busybox, for containers. */
  get rootfs(): string {
    return `${this.directory}/rootfs`;
  }

  /** What web servers in containers offer: `/www` of {@linkcode rootfs}. */
  get files(): string {
    return `${this.rootfs}/www`;
  }

  /** Puts a file there; below `cgi-bin` it is a script, run for each caller. */
  serve(path: string, content: string): void {
    Deno.writeTextFileSync(`${this.files}/${path}`, content, { mode: 0o755 });
  }

  /** `/var/lib/cni` of the node, seen from the machine. */
  get cniState(): string {
    return `${this.directory}/cni/var/lib/cni`;
  }

  /** Writes the network's conflist; one of the same name is replaced. */
  configure({ name, plugin, cniVersion = "1.0.0" }: Network): void {
    Deno.writeTextFileSync(
      `${this.directory}/cni/etc/cni/net.d/10-${name}.conflist`,
      JSON.stringify({ cniVersion, name, plugins: [{ type: "headcni", ...plugin }] }),
    );
  }

  /** A command that runs `program` on the node. */
  command(
    program: string,
    args: readonly string[],
    options: Deno.CommandOptions = {},
  ): Deno.Command {
    const enter = [`--target=${this.#pid}`, "--mount", "--pid", "--net", "--", program];
    return new Deno.Command("nsenter", { stdin: "null", ...options, args: [...enter, ...args] });
  }

  /** Runs a program that must succeed: its standard output. */
  async run(program: string, ...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.command(program, args).output();
    const text = new TextDecoder();
    assertEquals(code, 0, `${program} ${args.join(" ")}: ${text.decode(stderr)}`);
    return text.decode(stdout);
  }

  /** Ends all processes of the node, then the node. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#init.stdin.close();
    await this.#init.status;
    await this.#init.stdout.cancel();
    this.sandbox[Symbol.dispose]();
    await Deno.remove(this.directory, { recursive: true });
  }
}

/** Starts a node with the compiled plugin in `/opt/cni/bin` and no network configured. */
export async function startNode(): Promise<TestNode> {
  const directory = Deno.makeTempDirSync({ prefix: "headcni-node-" });
  for (const path of DIRECTORIES) Deno.mkdirSync(`${directory}/${path}`, { recursive: true });
  Deno.copyFileSync(PROGRAM, `${directory}/cni/opt/cni/bin/headcni`);
  installBusybox(`${directory}/rootfs/bin`);
  const sandbox = new Sandbox();
  sandbox.ip("link", "set", "lo", "up");
  const init = new Deno.Command("nsenter", {
    args: [
      `--net=/run/netns/${sandbox.name}`,
      ...["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"],
      ...["bash", "-c", INIT, directory],
    ],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const reader = init.stdout.getReader();
  const { value } = await reader.read();
  reader.releaseLock();
  assertEquals(new TextDecoder().decode(value), "ready\n", "the node's mounts");
  return new TestNode({ directory, sandbox, init });
}

/** Debian's static busybox under all its names. */
function installBusybox(directory: string): void {
  const busybox = `${directory}/busybox`;
  Deno.copyFileSync("/bin/busybox", busybox);
  run(busybox, "--install", directory);
}
