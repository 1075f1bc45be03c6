/**
 * Captures what `ip`, `tc` and `nft` send, as fixtures for the golden tests of lib/netlink.
 *
 * Runs each command of `tests/netlink/golden/` under strace in a network namespace of
 * its own. Needs root and strace.
 *
 * ```sh
 * deno run -A tools/capture_netlink.ts [name…]
 * ```
 */

import type { GoldenCase } from "../tests/netlink/golden/case.ts";
import { GOLDEN_CASES } from "../tests/netlink/golden/cases.ts";

const FIXTURES = new URL("../tests/fixtures/netlink/", import.meta.url);
const NAMESPACE = "hcnt-capture";
const TARGET = "hcnt-target";

function run(command: readonly string[]): string {
  const [program = "", ...args] = command;
  const output = new Deno.Command(program, { args, stdin: "null" }).outputSync();
  const text = new TextDecoder();
  if (!output.success) {
    throw new Error(`Cannot run ${command.join(" ")}: ${text.decode(output.stderr)}`);
  }
  return text.decode(output.stdout);
}

/** Words of a shell command without quotes; `nft` takes its braces as words. */
function words(command: string): string[] {
  return command.replace("NETNS", TARGET).split(" ");
}

function inside(command: readonly string[]): string[] {
  return ["ip", "netns", "exec", NAMESPACE, ...command];
}

/** The messages in a trace: strace prints each buffer as a hex dump. */
export function messagesIn(trace: string): Uint8Array[] {
  const buffers: number[][] = [];
  for (const line of trace.split("\n")) {
    const dump = /^ \| ([0-9a-f]{5}) {2}([0-9a-f ]{48,49})/.exec(line);
    if (dump === null) continue;
    if (dump[1] === "00000") buffers.push([]);
    const bytes = (dump[2] ?? "").trim().split(/ +/).map((byte) => parseInt(byte, 16));
    buffers.at(-1)?.push(...bytes);
  }
  return buffers.flatMap((buffer) => split(Uint8Array.from(buffer)));
}

/** Cuts a buffer at the lengths its messages give; what follows the last one is padding. */
function split(buffer: Uint8Array): Uint8Array[] {
  const messages: Uint8Array[] = [];
  const view = new DataView(buffer.buffer);
  for (let at = 0; at + 16 <= buffer.length;) {
    const length = view.getUint32(at, true);
    if (length < 16 || at + length > buffer.length) break;
    messages.push(buffer.slice(at, at + length));
    at += (length + 3) & ~3;
  }
  return messages;
}

function capture(golden: GoldenCase): Uint8Array {
  const trace = Deno.makeTempFileSync();
  run(["ip", "netns", "add", NAMESPACE]);
  try {
    for (const command of golden.setup ?? []) run(inside(words(command)));
    const strace = ["strace", "-f", "-e", "trace=sendmsg,sendto", "-e", "write=all", "-o", trace];
    run(inside([...strace, ...words(golden.command)]));
    // The last one: ip first sends an empty message of the type to see what the kernel knows.
    const message = messagesIn(Deno.readTextFileSync(trace)).findLast((message) =>
      new DataView(message.buffer).getUint16(4, true) === golden.type
    );
    if (message === undefined) throw new Error(`Cannot capture ${golden.name}: no such message`);
    // The sequence number is the time of day; without it captures can be compared.
    return message.fill(0, 8, 12);
  } finally {
    run(["ip", "netns", "del", NAMESPACE]);
    Deno.removeSync(trace);
  }
}

/** A fixture: how it was made, then the message in lines of 16 bytes. */
function format(golden: GoldenCase, message: Uint8Array): string {
  const [tool = ""] = golden.command.split(" ");
  const version = run([tool, tool === "nft" ? "--version" : "-V"]).trim();
  const lines = (golden.setup ?? []).map((command) => `# ${command}`);
  lines.push(`# ${golden.command}   <- this one`, `# ${version}; Linux ${Deno.osRelease()}`);
  const hex = Array.from(message, (byte) => byte.toString(16).padStart(2, "0"));
  for (let at = 0; at < hex.length; at += 16) lines.push(hex.slice(at, at + 16).join(" "));
  return `${lines.join("\n")}\n`;
}

if (import.meta.main) {
  Deno.mkdirSync(FIXTURES, { recursive: true });
  run(["ip", "netns", "add", TARGET]);
  try {
    for (const golden of GOLDEN_CASES) {
      if (Deno.args.length > 0 && !Deno.args.includes(golden.name)) continue;
      const text = format(golden, capture(golden));
      Deno.writeTextFileSync(new URL(`${golden.name}.txt`, FIXTURES), text);
    }
  } finally {
    run(["ip", "netns", "del", TARGET]);
  }
}
