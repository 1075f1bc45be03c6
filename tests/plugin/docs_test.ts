/** `docs/plugin.md` and the code say the same: keys, error numbers, phases. */

import { assertEquals } from "@std/assert";
import { JsonReader } from "../../lib/sys/json_reader.ts";
import { readPluginConfig } from "../../lib/cni/plugin_config.ts";
import { readRuntimeConfig } from "../../lib/cni/runtime_config.ts";

const PAGE = Deno.readTextFileSync(new URL("../../docs/plugin.md", import.meta.url));

/** Keys that are read elsewhere: by every plugin, and by the built-in IPAM. */
const READ_ELSEWHERE = [
  "cniVersion",
  "name",
  "type",
  "prevResult",
  "capabilities",
  "runtimeConfig.ipRanges",
];

/** An object that has every key it is asked for, each an object again, and remembers the keys. */
function spy(path: string, asked: Set<string>): Record<string, unknown> {
  const valueOf = (key: string): unknown => {
    const inner = path === "" ? key : `${path}.${key}`;
    asked.add(inner);
    return key === "portMappings" ? [spy("portMappings[]", asked)] : spy(inner, asked);
  };
  return new Proxy({}, {
    get: (_, key) => typeof key === "string" && key !== "toJSON" ? valueOf(key) : undefined,
    getOwnPropertyDescriptor: (_, key) => ({ value: String(key), configurable: true }),
    ownKeys: () => [],
  });
}

/** Every key that is read, as the page writes it: parts of a capability without its beginning. */
function keysOfCode(): string[] {
  const asked = new Set<string>();
  const raw = spy("", asked);
  try {
    readPluginConfig({ cniVersion: "1.0.0", name: "net", raw });
  } catch {
    // Nothing is of the right type.
  }
  return [...asked].filter((key) => key !== "ipam.type").map((key) =>
    key.replace(/^runtimeConfig\.(\w+\.)/, "$1").replace(/^args\.cni\..*/, "args.cni")
  );
}

/** What is read of the configuration only if the runtime passes nothing: `bandwidth`. */
function keysWithoutRuntime(): string[] {
  const asked = new Set<string>();
  readRuntimeConfig(new JsonReader({ ...spy("", asked), bandwidth: spy("bandwidth", asked) }));
  return asked.size === 0 ? [] : ["bandwidth", ...asked];
}

/** The first cells of all tables below `## Configuration` and `## Capabilities`. */
function keysOfPage(): string[] {
  const part = PAGE.slice(PAGE.indexOf("## Configuration"), PAGE.indexOf("## Environment"));
  return [...part.matchAll(/^\| `([^`]+)` /gm)].map((match) => match[1] ?? "");
}

Deno.test("docs/plugin.md has every key of the configuration, and no other", () => {
  const code = new Set([...keysOfCode(), ...keysWithoutRuntime(), ...READ_ELSEWHERE]);
  assertEquals([...new Set(keysOfPage())].sort(), [...code].sort());
});

Deno.test("docs/plugin.md has every error number, and no other", () => {
  const source = Deno.readTextFileSync(new URL("../../lib/cni/error_code.ts", import.meta.url));
  const numbers = [...source.matchAll(/(?:Error, |(?:TRY_AGAIN|INTERNAL) = )(\d+)/g)];
  const errors = PAGE.slice(PAGE.indexOf("## Errors"), PAGE.indexOf("## Log"));
  const told = [...errors.matchAll(/^\| (\d+) /gm)].map((match) => Number(match[1]));
  const known = new Set(numbers.map((match) => Number(match[1])));
  assertEquals(told, [...known].sort((a, b) => a - b));
});

Deno.test("docs/plugin.md has every phase of ADD and DEL, and no other", () => {
  const sources = ["call_notes", "dispatch", "native/add", "native/del"].map((name) =>
    Deno.readTextFileSync(new URL(`../../lib/cni/${name}.ts`, import.meta.url))
  );
  const marked = [...sources.join().matchAll(/\.mark\("(\w+)"\)/g)].map((match) => match[1]);
  const table = PAGE.slice(PAGE.indexOf("| phase "), PAGE.indexOf("## DNS"));
  const told = [...table.matchAll(/^\| `(\w+)` /gm)].map((match) => match[1]);
  assertEquals(told.sort(), [...new Set(marked)].sort());
});
