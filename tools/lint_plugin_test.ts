import { assertEquals, assertStringIncludes } from "@std/assert";
import plugin from "./lint_plugin.ts";

/** Files of this name own no effects. */
const PURE_FILE = "/tree/lib/ipam/allocator.ts";

function lint(source: string, file = PURE_FILE): Deno.lint.Diagnostic[] {
  return Deno.lint.runPlugin(plugin, file, source);
}

/** Asserts that `source` breaks `rule` once and no other. */
function assertBreaks(rule: string, source: string, message = ""): void {
  const found = lint(source);
  assertEquals(found.map(({ id }) => id), [`headcni/${rule}`], source);
  assertStringIncludes(found[0]?.message ?? "", message);
}

function assertClean(source: string, file = PURE_FILE): void {
  assertEquals(lint(source, file).map(({ id, message }) => `${id}: ${message}`), [], source);
}

const EFFECTS: Readonly<Record<string, string>> = {
  "Deno.readFileSync(path);": "Deno",
  "const { env } = Deno;": "Deno",
  "const D = Deno;": "Deno",
  "wire(Deno);": "Deno",
  "wire({ Deno });": "Deno",
  "wire({ port: Deno });": "Deno",
  "const read = (from = Deno.stdin) => from;": "Deno",
  "const all = [Deno];": "Deno",
  "const sys = Deno as Sys;": "Deno",
  "const sys = Deno!;": "Deno",
  "class X { sys = Deno; }": "Deno",
  "const get = () => Deno;": "Deno",
  'Deno["env"].get("HOME");': "Deno",
  "export { Deno };": "Deno",
  "console.log(1);": "console",
  "const { log } = console;": "console",
  "await fetch(url);": "fetch",
  "const call = fetch;": "fetch",
  "connect({ fetch });": "fetch",
  "function connect(call = fetch) {}": "fetch",
  "setTimeout(go, 1);": "setTimeout",
  "setInterval(go, 1);": "setInterval",
  "setImmediate(go);": "setImmediate",
  "process.exit(1);": "process",
  'new WebSocket("ws://x");': "WebSocket",
  'new Worker("./x.ts");': "Worker",
  'prompt("Sure?");': "prompt",
  "localStorage.clear();": "localStorage",
  "globalThis.fetch(url);": "globalThis.fetch",
  'globalThis["fetch"](url);': "globalThis.fetch",
  "globalThis[`fetch`](url);": "globalThis.fetch",
  "globalThis[name];": "globalThis[…]",
  "const { fetch: call } = globalThis;": "globalThis as a value",
  "wire(globalThis);": "globalThis as a value",
  "self.fetch(url);": "self.fetch",
  "globalThis.Deno.env;": "globalThis.Deno",
  "Date.now();": "Date.now",
  'Date["now"]();': "Date.now",
  "const { now } = Date;": "Date.now",
  "const clock = Date.now;": "Date.now",
  "globalThis.Date.now();": "Date.now",
  "new Date();": "new Date()",
  "new globalThis.Date();": "new Date()",
  "Date();": "Date()",
  "Math.random();": "Math.random",
  "const { random: roll } = Math;": "Math.random",
  "crypto.randomUUID();": "crypto.randomUUID",
  "crypto.getRandomValues(bytes);": "crypto.getRandomValues",
  "performance.now();": "performance.now",
  "AbortSignal.timeout(5);": "AbortSignal.timeout",
  'import { readFileSync } from "node:fs";': "Import of node:fs",
  'import "node:process";': "Import of node:process",
  'import { createRequire } from "node:module";': "Import of node:module",
  'await import("node:fs/promises");': "Import of node:fs/promises",
  'export * from "node:os";': "Import of node:os",
  'export { spawn } from "node:child_process";': "Import of node:child_process",
};

for (const [source, what] of Object.entries(EFFECTS)) {
  Deno.test(`effect-boundary reports ${source}`, () => {
    assertBreaks("effect-boundary", source, `${what} is an ambient effect`);
  });
}

const NO_EFFECTS = [
  "const file: Deno.FsFile = open();",
  'function ask(input: Pick<typeof Deno.stdin, "read">) {}',
  "const table = {} as const satisfies Deno.ForeignLibraryInterface;",
  "let call: typeof fetch;",
  "options.fetch(url);",
  "const client = { fetch: options.fetch };",
  "function connect({ fetch }: Options) {}",
  "const { fetch: call, console: log } = options;",
  "class Client { fetch(): void {} process = 1; }",
  "const wrap = (fetch: Fetch) => 1;",
  "function wrap(fetch: Fetch, ...process: string[]) {}",
  "try { go(); } catch (process) { stop(); }",
  "const [fetch] = ports;",
  'import { fetch } from "./port.ts";',
  'export { fetch } from "./port.ts";',
  "process: for (;;) break process;",
  "interface Port { fetch(url: string): void; setTimeout: number }",
  "new Date(clock.now());",
  "Date.parse(text);",
  "Math.max(1, 2);",
  "crypto.subtle;",
  "AbortSignal.any([a, b]);",
  "globalThis.structuredClone(value);",
  'import type { Stats } from "node:fs";',
  'export type { Stats } from "node:fs";',
  'import { DatabaseSync } from "node:sqlite";',
  'import { Buffer } from "node:buffer";',
  'const text = "Deno.exit() and fetch()";',
];

for (const source of NO_EFFECTS) {
  Deno.test(`effect-boundary leaves alone ${source}`, () => assertClean(source));
}

Deno.test("effect-boundary lets the owners of effects use them", () => {
  const owners = [
    "/tree/cmd/headcni.ts",
    "/tree/lib/sys/files.ts",
    "/tree/lib/netlink/libmnl.ts",
    "/tree/lib/netlink/libc.ts",
    "/tree/lib/ipam/allocator_test.ts",
    "/tree/lib/ipam/testing.ts",
    "/tree/tools/build.ts",
    "/tree/tests/spec/add.ts",
    "/tree/bench/startup.ts",
    "C:\\tree\\lib\\sys\\files.ts",
  ];
  for (const file of owners) assertClean("Deno.exit(Math.random());", file);
  for (const file of ["/tree/lib/netlink/route.ts", "/tree/lib/daemon/sys.ts"]) {
    assertEquals(lint("Deno.exit();", file).length, 1, file);
  }
});

Deno.test("effect-boundary names the port to use instead", () => {
  assertEquals(lint("Date.now();")[0]?.hint, "Use Clock.now (lib/sys/clock.ts)");
});

const UNNAMED_ERRORS = [
  "class AError extends HeadcniError {}",
  "export class AError extends Error { code = 1; }",
  'class AError extends Error { override readonly name = "BError"; }',
  'class AError extends Error { static name = "AError"; }',
  "class AError extends errors.HeadcniError {}",
  "const AError = class extends Error {};",
];

for (const source of UNNAMED_ERRORS) {
  Deno.test(`error-name reports ${source}`, () => assertBreaks("error-name", source));
}

Deno.test("error-name accepts a class that spells out its name, and other classes", () => {
  assertClean('class AError extends HeadcniError { override readonly name = "AError"; }');
  assertClean('const A = class extends Error { override readonly name = "AError"; };');
  assertClean("class Link extends Device {}");
  assertClean("class Plain {}");
});

const BAD_PROSE = [
  'throw new Error("cannot read file");',
  'throw new TypeError("Cannot read file.");',
  "throw new RangeError(`cannot read ${path}`);",
  "throw new SyntaxError(`Cannot read ${path}.`);",
  'throw new AggregateError(all, "three failed");',
  'throw new FileError({ operation: "Cannot read", reason: "gone" });',
  'throw new FileError({ operation: "Read file", reason: "gone" });',
  'throw new FileError({ operation: "read file", reason: "it is gone." });',
  "throw new FileError({ operation: `Read ${kind}`, reason: `gone` });",
];

for (const source of BAD_PROSE) {
  Deno.test(`error-prose reports ${source}`, () => assertBreaks("error-prose", source));
}

Deno.test("error-prose accepts house prose, and what it cannot know", () => {
  assertClean('throw new Error("Cannot read file: it is gone");');
  assertClean("throw new Error(`Cannot read ${path}`);");
  assertClean("throw new Error(`${path} is gone`);");
  assertClean("throw new Error(message);");
  assertClean("throw new AggregateError(all);");
  assertClean('throw new FileError({ operation: "read file", reason: "Headscale said no" });');
  assertClean('throw new FileError({ operation: "GET /x", reason: `${status}` });');
  assertClean('throw new Error("as the test wants it.");', "/tree/lib/ip/prefix_test.ts");
});

for (
  const source of [
    "export default 1;",
    "export default class {}",
    "export { x as default };",
    'export { default } from "./x.ts";',
  ]
) {
  Deno.test(`no-default-export reports ${source}`, () => assertBreaks("no-default-export", source));
}

Deno.test("no-default-export accepts names, and the plugin deno lint loads", () => {
  assertClean('export { default as client } from "./x.ts";\nexport const x = 1;');
  assertClean("export default plugin;", "/tree/tools/lint_plugin.ts");
});

Deno.test("no-computed-import reports a name no tool can follow", () => {
  assertBreaks("no-computed-import", "await import(path);");
  assertBreaks("no-computed-import", "await import(`./${face}.ts`);");
  assertBreaks("no-computed-import", 'await import("./a" + ".ts");');
});

Deno.test("no-computed-import accepts literal names, and tools and tests", () => {
  assertClean('await import("./daemon.ts");');
  for (const file of ["/tree/tools/x.ts", "/tree/tests/x.ts", "/tree/lib/ip/x_test.ts"]) {
    assertClean("await import(path);", file);
  }
});
