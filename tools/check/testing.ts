/** Throw-away git trees for tests of the checks: planted files in, problems out. */

import { PACKAGES_FROM_CACHE } from "../build/command.ts";

/** A directory that is removed at the end of its scope. */
export interface PlantedTree extends AsyncDisposable {
  readonly root: string;
}

/** Makes a git tree with `files` (path → content), outside this repository. */
export async function plantTree(files: Readonly<Record<string, string>>): Promise<PlantedTree> {
  const root = await Deno.makeTempDir({ prefix: "headcni-check-" });
  for (const [path, content] of Object.entries(files)) {
    const directory = path.slice(0, Math.max(0, path.lastIndexOf("/")));
    await Deno.mkdir(`${root}/${directory}`, { recursive: true });
    await Deno.writeTextFile(`${root}/${path}`, content);
  }
  const { success } = await new Deno.Command("git", {
    args: ["-C", root, "init", "--quiet"],
    stdin: "null",
    stdout: "null",
    stderr: "inherit",
  }).output();
  if (!success) throw new Error("Cannot plant a tree: git init failed");
  return {
    root,
    [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }),
  };
}

/** How a tool of `tools/` ended. */
export interface ToolOutcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `tools/<name>` as the gate does, with this Deno. */
export async function runTool(name: string, args: readonly string[]): Promise<ToolOutcome> {
  const script = new URL(`../${name}`, import.meta.url).href;
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", PACKAGES_FROM_CACHE, "--allow-all", script, ...args],
    env: { NO_COLOR: "1" },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

/** A tree in which every import rule holds, several of them by a hair. */
export const CLEAN_TREE: Readonly<Record<string, string>> = {
  "deno.json": JSON.stringify({
    imports: {
      "@std/assert": "./types/std/assert.ts",
      "@std/yaml": "./types/std/yaml.ts",
      "deno-std/": "npm:/deno-std@1.4.0/",
      "ipaddr.js": "npm:ipaddr.js@2.5.0",
      "prom-client": "npm:prom-client@15.1.3",
      "left-pad": "npm:left-pad@1.3.0",
    },
  }),
  "cmd/headcni.ts": `import "../lib/sys/mod.ts";
await import("../lib/cni/plugin_face.ts");
await import("../lib/daemon/mod.ts");
`,
  "lib/cni/plugin_face.ts": `import "../ipam/mod.ts";
import "../netlink/mod.ts";
import type { Metrics } from "../sys/mod.ts";
export type Face = Metrics;
export const verbs = () => import("./ipam_verbs.ts");
export const add = () => import("./native/add.ts");
export const del = () => import("./native/del.ts");
`,
  "lib/cni/ipam_verbs.ts": `export const verbs = 1;\n`,
  "lib/cni/native/add.ts": `export const add = 1;\n`,
  "lib/cni/native/del.ts": `export const del = () => import("../chain/run_del.ts");\n`,
  "lib/cni/chain/run_del.ts": `export const del = 1;\n`,
  "lib/daemon/mod.ts": `import "../kube/mod.ts";
import "@std/yaml";
import "prom-client";
`,
  "lib/cli/mod.ts": `export const cli = 1;\n`,
  "lib/kube/mod.ts": `export const kube = 1;\n`,
  "lib/ipam/mod.ts": `import "../store/mod.ts";\nexport const ipam = 1;\n`,
  "lib/ipam/mod_test.ts": `import "@std/assert";
import "../store/testing.ts";
const quoted = 'import "../daemon/mod.ts"';
`,
  "lib/store/mod.ts": `import "node:sqlite";\n`,
  "lib/store/testing.ts": `import "./mod.ts";\n`,
  "lib/netlink/mod.ts": `import "../ip/mod.ts";\n`,
  "lib/ip/mod.ts": `import "ipaddr.js";\nimport "../sys/errors.ts";\n`,
  "lib/sys/mod.ts": `import "./errors.ts";\nexport interface Metrics {}\n`,
  "lib/sys/errors.ts": `export class HeadcniError {}\n`,
  "tests/black_box_test.ts": `import "../lib/store/testing.ts";\nimport "prom-client";\n`,
  "tools/build.ts": `import "../lib/sys/mod.ts";\n`,
  "bench/add.ts": `import "../lib/cni/plugin_face.ts";\n`,
  "types/std/assert.ts": `export * from "deno-std/assert/mod.js";\n`,
  "types/std/yaml.ts": `export * from "deno-std/yaml/mod.js";\n`,
};
