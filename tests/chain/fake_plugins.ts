/**
 * A node whose plugins are shell scripts that write down how they were called and do what a test
 * says. No namespaces: nothing here touches a network.
 */

import { assertEquals } from "@std/assert";
import { readStore, type StoredChain } from "../../lib/store/mod.ts";
import { PROGRAM } from "../binary/program.ts";
import { type Command, execute, type Json } from "../plugin/namespace.ts";
import { type Answer, type Verb } from "../plugin/node.ts";

/** The plugins of the chain under test. */
export const TYPES = ["alpha", "bravo", "charlie", "delta"] as const;

/** One of them. */
export type Type = typeof TYPES[number];

/** How a plugin was called. */
export interface Call {
  /** `ADD alpha`. */
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: Json;
}

/** What a test says about a call of the program. */
export interface CallOptions {
  readonly config?: Json;
  readonly containerId?: string;
  readonly ifname?: string;
  readonly netns?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly onStart?: Command["onStart"];
}

/** Writes down variables and input, in order; then does what `do/TYPE.VERB` says. */
const SCRIPT = `#!/bin/sh
home=\${0%/bin/*} type=\${0##*/}
call=$home/log/$(printf %04d $(ls "$home/log" | wc -l))
mkdir "$call"
echo "$CNI_COMMAND $type" >"$call/name"
env >"$call/env"
cat >"$call/stdin"
[ -e "$home/do/$type.$CNI_COMMAND" ] && . "$home/do/$type.$CNI_COMMAND"
exit 0
`;

/** What a plugin of the tests answers to ADD; with a key nobody but it knows. */
export function resultOf(type: string, cniVersion = "1.1.0"): Json {
  return {
    cniVersion,
    interfaces: [{ name: `${type}0` }],
    ips: [{ address: "10.9.0.2/24", interface: 0 }],
    [`x-${type}`]: true,
  };
}

/** A configuration with these plugins; each has a key that tells it apart. */
export function chainOf(types: readonly string[] = TYPES, more: Json = {}): Json {
  const plugins = types.map((type) => ({ type, mark: `of ${type}` }));
  return { cniVersion: "1.1.0", name: "fakenet", type: "headcni", plugins, ...more };
}

/** See the top of this file. */
export class FakeNode implements AsyncDisposable {
  readonly directory: string = Deno.makeTempDirSync({ prefix: "headcni-chain-" });
  readonly bin: string = `${this.directory}/bin`;
  readonly data: string = `${this.directory}/data`;

  constructor(types: readonly string[] = TYPES) {
    for (const name of ["bin", "log", "do"]) Deno.mkdirSync(`${this.directory}/${name}`);
    for (const type of types) this.install(type);
  }

  /** Installs a plugin that succeeds at everything. */
  install(type: string): void {
    Deno.writeTextFileSync(`${this.bin}/${type}`, SCRIPT, { mode: 0o755 });
    this.answer(type, "ADD", JSON.stringify(resultOf(type)));
    const supportedVersions = ["0.4.0", "1.0.0", "1.1.0"];
    this.answer(type, "VERSION", JSON.stringify({ cniVersion: "1.1.0", supportedVersions }));
  }

  /** What the plugin prints; it then ends with `code`. */
  answer(type: string, verb: Verb, text: string, code = 0): void {
    this.script(type, verb, `cat <<'END'\n${text}\nEND\nexit ${code}\n`);
  }

  /** What the plugin does, as shell. */
  script(type: string, verb: Verb, text: string): void {
    Deno.writeTextFileSync(`${this.directory}/do/${type}.${verb}`, text);
  }

  /** The plugin succeeds at `verb` again. */
  repair(type: string, verb: Verb): void {
    this.install(type);
    if (verb !== "ADD" && verb !== "VERSION") this.script(type, verb, "");
  }

  /** Calls the program as a runtime does. */
  async call(verb: Verb, options: CallOptions = {}): Promise<Answer> {
    const { config = chainOf(), containerId = "c1", ifname = "eth0", onStart } = options;
    const isAboutPod = ["ADD", "DEL", "CHECK"].includes(verb);
    const ending = await execute({
      command: [PROGRAM],
      stdin: JSON.stringify(config),
      env: {
        PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
        HEADCNI_DATA_DIR: this.data,
        OTHER: "goes on",
        CNI_STRAY: "must not go on",
        CNI_COMMAND: verb,
        CNI_PATH: this.bin,
        ...(isAboutPod
          ? {
            CNI_CONTAINERID: containerId,
            CNI_NETNS: options.netns ?? "/run/netns/not-there",
            CNI_IFNAME: ifname,
            CNI_ARGS: "IgnoreUnknown=1;K8S_POD_NAME=pod",
          }
          : {}),
        ...options.env,
      },
      ...(onStart === undefined ? {} : { onStart }),
    });
    const value = ending.stdout === "" ? undefined : JSON.parse(ending.stdout);
    return { ...ending, value };
  }

  /** A call that must succeed: what it printed. */
  async succeed(verb: Verb, options: CallOptions = {}): Promise<Json | undefined> {
    const { code, stdout, stderr, value } = await this.call(verb, options);
    assertEquals(code, 0, `${verb}: ${stdout}${stderr}`);
    return value;
  }

  /** A call that must fail: its error object. */
  async fail(verb: Verb, options: CallOptions = {}): Promise<Json> {
    const { code, value, stdout } = await this.call(verb, options);
    assertEquals(code, 1, `${verb} did not fail: ${stdout}`);
    return value ?? {};
  }

  /** How plugins were called since the last look, in order. */
  calls(): Call[] {
    const log = `${this.directory}/log`;
    const names = [...Deno.readDirSync(log)].map(({ name }) => name).sort();
    const calls = names.map((name) => readCall(`${log}/${name}`));
    this.forgetCalls();
    return calls;
  }

  /** As if no plugin had been called; one that was killed has not written down everything. */
  forgetCalls(): void {
    Deno.removeSync(`${this.directory}/log`, { recursive: true });
    Deno.mkdirSync(`${this.directory}/log`);
  }

  /** The same, only which plugin and which verb. */
  names(): string[] {
    return this.calls().map(({ name }) => name);
  }

  /** What the store knows. */
  chains(network = "fakenet"): StoredChain[] {
    const options = { directory: this.data, observe: () => Promise.resolve([]) };
    return readStore(options, (store) => store.network(network)?.chains.list()) ?? [];
  }

  /** The steps of the only chain: `alpha added`. */
  steps(): string[] {
    return this.chains().flatMap(({ steps }) =>
      steps.map(({ type, status }) => `${type} ${status}`)
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.directory, { recursive: true });
  }
}

function readCall(path: string): Call {
  const env = Deno.readTextFileSync(`${path}/env`).trimEnd().split("\n").map((line) => {
    const at = line.indexOf("=");
    return [line.slice(0, at), line.slice(at + 1)];
  });
  const stdin = Deno.readTextFileSync(`${path}/stdin`);
  return {
    name: Deno.readTextFileSync(`${path}/name`).trim(),
    env: Object.fromEntries(env),
    stdin: JSON.parse(stdin),
  };
}
