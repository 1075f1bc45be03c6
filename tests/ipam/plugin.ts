/** How tests call the IPAM plugin, and peers that call it for them. */

import { PROGRAM } from "../binary/program.ts";

/** Where Debian has the plugins of containernetworking. */
export const PEERS = "/usr/lib/cni";

/** How a call ended. */
export interface Ending {
  readonly code: number;
  /** What was printed, decoded; `undefined` if nothing was. */
  // deno-lint-ignore no-explicit-any -- tests look into JSON of other programs
  readonly json: any;
  readonly stdout: string;
  readonly stderr: string;
  /** The signal that ended it. */
  readonly signal: string | null;
}

/** What a call is told. */
export interface CallOptions {
  /** A plugin by name, looked for among the peers, or by path. @default {"headcni-ipam"} */
  readonly plugin?: string;
  readonly command: string;
  readonly id?: string;
  readonly netns?: string;
  readonly ifname?: string;
  readonly args?: string;
  readonly config: unknown;
  readonly env?: Readonly<Record<string, string>>;
  /** Kill it after so many milliseconds. */
  readonly killAfterMs?: number;
}

/** A directory with `headcni-ipam` in it, and a store of its own. */
export class Bench implements AsyncDisposable {
  readonly directory: string = Deno.makeTempDirSync({ prefix: "headcni-test-" });
  readonly bin: string = `${this.directory}/bin`;
  readonly data: string = `${this.directory}/data`;

  constructor() {
    Deno.mkdirSync(this.bin);
    Deno.symlinkSync(PROGRAM, `${this.bin}/headcni-ipam`);
  }

  /** Calls a plugin as a runtime does: by exec, with nothing but CNI's own environment. */
  async call(options: CallOptions): Promise<Ending> {
    const { plugin = "headcni-ipam", command, id = "c1", ifname = "eth0" } = options;
    const program = plugin === "headcni-ipam"
      ? `${this.bin}/${plugin}`
      : plugin.includes("/")
      ? plugin
      : `${PEERS}/${plugin}`;
    // By a shell: Deno.Command follows the link before it executes the program.
    const child = new Deno.Command("/bin/sh", {
      args: ["-c", 'exec "$0"', program],
      clearEnv: true,
      env: {
        CNI_COMMAND: command,
        CNI_CONTAINERID: id,
        CNI_NETNS: options.netns ?? "/proc/self/ns/net",
        CNI_IFNAME: ifname,
        CNI_ARGS: options.args ?? "",
        CNI_PATH: `${this.bin}:${PEERS}`,
        HEADCNI_DATA_DIR: this.data,
        PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
        ...options.env,
      },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const timer = options.killAfterMs === undefined
      ? undefined
      : setTimeout(() => kill(child), options.killAfterMs);
    const writer = child.stdin.getWriter();
    const text = typeof options.config === "string"
      ? options.config
      : JSON.stringify(options.config);
    await writer.write(new TextEncoder().encode(text)).catch(() => {});
    await writer.close().catch(() => {});
    const { code, signal, stdout, stderr } = await child.output();
    clearTimeout(timer);
    const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
    return { code, signal, stdout: out ?? "", stderr: err ?? "", json: decode(out ?? "") };
  }

  /** Runs `headcni ipam …` on the same store. */
  async ipam(...args: string[]): Promise<Ending> {
    const { code, signal, stdout, stderr } = await new Deno.Command(PROGRAM, {
      args: ["ipam", ...args],
      clearEnv: true,
      env: { HEADCNI_DATA_DIR: this.data, NO_COLOR: "1" },
      stdin: "null",
    }).output();
    const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
    return { code, signal, stdout: out ?? "", stderr: err ?? "", json: decode(out ?? "") };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.directory, { recursive: true });
  }
}

function kill(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch {
    // It has ended.
  }
}

function decode(text: string): unknown {
  try {
    return text.trim() === "" ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A network configuration for the IPAM plugin. */
export function network(
  ipam: Record<string, unknown>,
  more: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    cniVersion: "1.0.0",
    name: "test-net",
    type: "test",
    ipam: { type: "headcni-ipam", ...ipam },
    ...more,
  };
}
