/** Network namespaces as parts of a test's world: pods, nodes, the internet. */

import { assertEquals } from "@std/assert";
import { createNetns, deleteNetns } from "../../lib/netlink/named_netns.ts";
import { inNetns, type Netns } from "../../lib/netlink/netns.ts";

/** An object as a tool prints it. */
// deno-lint-ignore no-explicit-any
export type Json = Record<string, any>;

/** How a program ended and what it said. */
export interface Ending {
  readonly code: number;
  readonly signal: Deno.Signal | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A program to be run, and what it is told. */
export interface Command {
  readonly command: readonly string[];
  readonly stdin?: string;
  /** The whole environment, nothing inherited; by default that of the test. */
  readonly env?: Readonly<Record<string, string>>;
  /** Called with the running child: to kill it. */
  readonly onStart?: (child: Deno.ChildProcess) => void;
}

/** Runs a program to its end. */
export async function execute(request: Command): Promise<Ending> {
  const { command: [program = "", ...args], stdin, env } = request;
  const child = new Deno.Command(program, {
    args,
    ...(env === undefined ? {} : { env: { ...env }, clearEnv: true }),
    stdin: stdin === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  request.onStart?.(child);
  const fed = stdin === undefined ? undefined : feed(child, stdin);
  const [{ code, signal }, stdout, stderr] = await Promise.all([
    child.status,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    fed,
  ]);
  return { code, signal, stdout, stderr };
}

/** Runs a program that must succeed: its standard output. */
export async function output(...command: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await execute({ command });
  assertEquals(code, 0, `${command.join(" ")}: ${stdout}${stderr}`);
  return stdout;
}

/** Packets take their time; at most `attempts` times 20 ms. */
export async function eventually(probe: () => Promise<boolean>, attempts = 50): Promise<boolean> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (await probe()) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
}

/** A program that ends, or is killed, before it has read everything is no failure of the test. */
async function feed(child: Deno.ChildProcess, text: string): Promise<void> {
  const writer = child.stdin.getWriter();
  try {
    await writer.write(new TextEncoder().encode(text));
    await writer.close();
  } catch {
    await writer.abort().catch(() => {});
  }
}

/** A network namespace with a random name that goes away with the test. */
export class Namespace implements Disposable {
  readonly name: string;
  readonly netns: Netns;
  #isGone = false;

  constructor(kind: string) {
    this.name = `hcnt-${kind}-${crypto.randomUUID().slice(0, 8)}`;
    this.netns = createNetns(this.name);
  }

  /** Where runtimes would find it. */
  get path(): string {
    return `/run/netns/${this.name}`;
  }

  /** The command that runs `command` inside. Not `ip netns exec`: that also changes mounts. */
  inside(...command: readonly string[]): readonly string[] {
    return ["nsenter", `--net=${this.path}`, ...command];
  }

  /** Runs a program inside that must succeed: its standard output. */
  run(...command: readonly string[]): Promise<string> {
    return output(...this.inside(...command));
  }

  /** `ip -json …` inside. */
  async ip(...args: readonly string[]): Promise<Json[]> {
    const text = await output("ip", "-n", this.name, "-json", ...args);
    return text.trim() === "" ? [] : JSON.parse(text);
  }

  /** Runs lines of `ip` commands in order, such as `link set lo up`. */
  async configure(...lines: readonly string[]): Promise<void> {
    const command = ["ip", "-n", this.name, "-batch", "-"];
    const { code, stderr } = await execute({ command, stdin: lines.join("\n") + "\n" });
    assertEquals(code, 0, stderr);
  }

  /** Whether `address` answers; `from` is a source address or interface. */
  async reaches(address: string, from?: string): Promise<boolean> {
    const source = from === undefined ? [] : ["-I", from];
    const ping = ["ping", "-n", "-q", "-c1", "-W1", ...source, address];
    return (await execute({ command: this.inside(...ping) })).code === 0;
  }

  /** Connects and reads until the other side closes; `undefined` if nobody is there. */
  async fetch(
    address: string,
    port: number,
    protocol: "tcp" | "udp" = "tcp",
  ): Promise<string | undefined> {
    const script = protocol === "tcp"
      ? `exec 3<>/dev/tcp/${address}/${port} && cat <&3`
      : `exec 3<>/dev/udp/${address}/${port} && echo hello >&3 && head -n1 <&3`;
    const command = this.inside("timeout", "2", "bash", "-c", script);
    const { code, stdout } = await execute({ command });
    return code === 0 ? stdout.trim() : undefined;
  }

  /** Answers each connection with the address it came from. */
  listen(port: number): Disposable {
    const listener = inNetns(this.netns, () => Deno.listen({ hostname: "::", port }));
    answerConnections(listener);
    return listener;
  }

  /** Answers each datagram with the address it came from. */
  async listenUdp(port: number): Promise<AsyncDisposable> {
    const [program = "", ...args] = this.inside("perl", "-e", UDP_SERVER, `${port}`);
    const child = new Deno.Command(program, { args, stdin: "null", stdout: "piped" }).spawn();
    const reader = child.stdout.getReader();
    await reader.read(); // it is bound
    return {
      async [Symbol.asyncDispose]() {
        child.kill("SIGKILL");
        await child.status;
        await reader.cancel();
      },
    };
  }

  /** Deletes it; the second time there is nothing to do. */
  [Symbol.dispose](): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.netns[Symbol.dispose]();
    deleteNetns(this.name);
  }
}

async function answerConnections(listener: Deno.TcpListener): Promise<void> {
  try {
    for await (const connection of listener) {
      using answered = connection;
      await answered.write(hostOf(answered.remoteAddr)).catch(() => {});
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error; // it was closed
  }
}

/** A socket of both families shows IPv4 peers as mapped addresses. */
function hostOf(address: Deno.NetAddr): Uint8Array {
  return new TextEncoder().encode(`${address.hostname.replace("::ffff:", "")}\n`);
}

/** Deno has no stable UDP; perl-base is on every Debian. */
const UDP_SERVER = `
  use Socket qw(:all);
  socket(S, AF_INET6, SOCK_DGRAM, 0) && bind(S, pack_sockaddr_in6($ARGV[0], IN6ADDR_ANY)) or die;
  syswrite(STDOUT, "ready");
  while (my $from = recv(S, my $text, 1500, 0)) {
    my ($port, $address) = unpack_sockaddr_in6($from);
    my $host = inet_ntop(AF_INET6, $address);
    $host =~ s/^::ffff://;
    send(S, "$host\\n", 0, $from);
  }`;

// Libraries stay loaded for the life of the process. Loaded here, no single test is blamed for
// them by the leak detector.
if (Deno.uid() === 0) new Namespace("load")[Symbol.dispose]();
