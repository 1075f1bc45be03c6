/** Namespaces of a test's own, and the tools whose word counts. */

import { assertEquals } from "@std/assert";
import { NetlinkConnection, openConnection } from "../../lib/netlink/mod.ts";
import { NETLINK_NETFILTER } from "../../lib/netlink/constants/netlink.ts";
import { createNetns, deleteNetns } from "../../lib/netlink/named_netns.ts";
import type { Netns } from "../../lib/netlink/netns.ts";

/** A network namespace that goes away with the test. */
export class Sandbox implements Disposable {
  readonly name: string;
  readonly netns: Netns;
  readonly connection: NetlinkConnection;

  constructor() {
    this.name = `hcnt-${crypto.randomUUID().slice(0, 8)}`;
    this.netns = createNetns(this.name);
    this.connection = openConnection({ netns: this.netns });
  }

  /** A netfilter connection; the caller closes it. */
  netfilter(): NetlinkConnection {
    return openConnection({ netns: this.netns, protocol: NETLINK_NETFILTER });
  }

  /** `ip -json …` inside the namespace. */
  ip(...args: readonly string[]): Json[] {
    return json(run("ip", "-n", this.name, "-json", "-details", ...args));
  }

  /** `tc -json …` inside the namespace. */
  tc(...args: readonly string[]): Json[] {
    return json(run("tc", "-n", this.name, "-json", ...args));
  }

  /** Any program inside the namespace: its standard output. */
  run(...command: readonly string[]): string {
    return run("ip", "netns", "exec", this.name, ...command);
  }

  [Symbol.dispose](): void {
    this.connection[Symbol.dispose]();
    this.netns[Symbol.dispose]();
    deleteNetns(this.name);
  }
}

/** An object as a tool prints it. */
// deno-lint-ignore no-explicit-any
export type Json = Record<string, any>;

function json(text: string): Json[] {
  const value: unknown = text.trim() === "" ? [] : JSON.parse(text);
  return Array.isArray(value) ? value : [value as Json];
}

/** Runs a program that must succeed: its standard output. */
export function run(program: string, ...args: readonly string[]): string {
  const output = new Deno.Command(program, { args: [...args], stdin: "null" }).outputSync();
  const text = new TextDecoder();
  assertEquals(output.code, 0, `${program} ${args.join(" ")}: ${text.decode(output.stderr)}`);
  return text.decode(output.stdout);
}

/** The one member of a list. */
export function only<T>(items: readonly T[]): T {
  assertEquals(items.length, 1, `one item expected, got ${Deno.inspect(items)}`);
  const [item] = items;
  return item as T;
}

/** What a Deno program printed, and how it ended. */
export interface ScriptResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
  readonly signal: string | null;
}

/**
 * Runs `code` as a program of its own, with the imports of the tests at hand. `before` is put in
 * front of the command, such as `setpriv`.
 */
export function runScript(code: string, before: readonly string[] = []): ScriptResult {
  const root = new URL("../../", import.meta.url);
  const file = Deno.makeTempFileSync({ suffix: ".ts" });
  try {
    Deno.writeTextFileSync(file, code.replaceAll('"lib/', `"${root.href}lib/`));
    const config = new URL("deno.json", root).pathname;
    const options = ["--node-modules-dir=none", "--config", config];
    const command = [...before, Deno.execPath(), "run", "-A", "--quiet", ...options, file];
    const [program = "", ...args] = command;
    const output = new Deno.Command(program, { args, stdin: "null" }).outputSync();
    const text = new TextDecoder();
    return {
      stdout: text.decode(output.stdout),
      stderr: text.decode(output.stderr),
      code: output.code,
      signal: output.signal,
    };
  } finally {
    Deno.removeSync(file);
  }
}

// Libraries stay loaded for the life of the process. Loaded here, no single test is blamed for
// them by the leak detector.
if (Deno.uid() === 0) new Sandbox()[Symbol.dispose]();
