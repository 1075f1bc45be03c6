import { assertEquals, assertStringIncludes } from "@std/assert";
import { checkFace } from "./face.ts";
import { FACE, type FaceRule } from "./import_rules.ts";
import { loadModuleGraph } from "./module_graph.ts";
import { formatProblem, type Problem } from "./problem.ts";
import { CLEAN_TREE, plantTree } from "./testing.ts";

/** The product's rule with the one face the clean tree has. */
const RULE: FaceRule = { ...FACE, faces: ["lib/cni/plugin_face.ts"] };

/** What the plugin rule says about the clean tree with `changes` planted in it. */
async function faceProblems(
  changes: Readonly<Record<string, string>>,
  rule = RULE,
): Promise<Problem[]> {
  const files = { ...CLEAN_TREE, ...changes };
  await using tree = await plantTree(files);
  const modules = Object.keys(files).filter((path) => path.endsWith(".ts"));
  return checkFace(await loadModuleGraph(tree.root, modules), rule);
}

async function assertOneProblem(
  changes: Readonly<Record<string, string>>,
  expected: string,
): Promise<void> {
  const problems = (await faceProblems(changes)).map(formatProblem);
  assertEquals(problems.length, 1, problems.join("\n"));
  assertStringIncludes(problems[0] ?? "", expected);
}

const IMPURE_FACES = {
  "lib/daemon/mod.ts": `import "../daemon/mod.ts";\n`,
  "lib/cli/mod.ts": `import "../cli/mod.ts";\n`,
  "lib/headscale/x.ts": `import "../headscale/x.ts";\n`,
  "lib/tailscale/x.ts": `import "../tailscale/x.ts";\n`,
  "lib/kube/mod.ts": `import "../kube/mod.ts";\n`,
  "lib/policy/x.ts": `import "../policy/x.ts";\n`,
  "lib/cni/chain/x.ts": `import "./chain/x.ts";\n`,
  "@std/yaml": `import "@std/yaml";\n`,
  "@std/cli": `import "npm:@std/cli@1.0.0/parse-args";\n`,
  "prom-client": `import "prom-client";\n`,
  "@kubernetes/client-node": `import "npm:@kubernetes/client-node@1.4.0";\n`,
};

for (const [banned, source] of Object.entries(IMPURE_FACES)) {
  Deno.test(`checkFace() keeps ${banned} out of what the plugin loads`, async () => {
    const chain = `lib/cni/plugin_face.ts → lib/cni/add.ts → ${banned}`;
    await assertOneProblem({
      "lib/headscale/x.ts": "",
      "lib/tailscale/x.ts": "",
      "lib/policy/x.ts": "",
      "lib/cni/chain/x.ts": "",
      "lib/cni/plugin_face.ts": `import "./add.ts";\n`,
      "lib/cni/add.ts": source,
    }, `lib/cni/add.ts:1: face: the CNI plugin loads ${banned} (${chain})`);
  });
}

Deno.test("checkFace() passes what is imported dynamically or as a type", async () => {
  assertEquals(await faceProblems({}), []);
  assertEquals(
    await faceProblems({
      "lib/cni/plugin_face.ts": `import type { K } from "../kube/mod.ts";
export const load = (): Promise<{ k: K }> => import("../kube/mod.ts");
`,
    }),
    [],
  );
});

Deno.test("checkFace() looks at what the entry itself loads, static over dynamic", async () => {
  await assertOneProblem({
    "cmd/headcni.ts": `await import("../lib/daemon/mod.ts");
await import("../lib/cni/plugin_face.ts");
import "../lib/daemon/mod.ts";
`,
  }, "face: the CNI plugin loads lib/daemon/mod.ts (cmd/headcni.ts → lib/daemon/mod.ts)");
});

Deno.test("checkFace() fails when the entry does not import the face", async () => {
  await assertOneProblem(
    { "cmd/headcni.ts": "export const entry = 1;\n" },
    "cmd/headcni.ts:1: face: does not import lib/cni/plugin_face.ts",
  );
});

Deno.test("checkFace() follows a face that another face loads when it is called for", async () => {
  const rule = { ...FACE, faces: ["lib/cni/plugin_face.ts", "lib/cni/verbs.ts"] };
  const tree = {
    "lib/cni/plugin_face.ts": `export const load = () => import("./verbs.ts");\n`,
    "lib/cni/verbs.ts": `import "../kube/mod.ts";\n`,
  };
  const [problem, ...others] = await faceProblems(tree, rule);
  assertEquals([problem?.path, problem?.rule, others], ["lib/cni/verbs.ts", "face", []]);
});

Deno.test("checkFace() fails when the face does not exist, imported or not", async () => {
  const rule = { ...FACE, faces: ["lib/cni/elsewhere.ts"] };
  for (
    const entry of [
      `await import("../lib/cni/plugin_face.ts");\n`,
      `await import("../lib/cni/elsewhere.ts");\n`,
    ]
  ) {
    const problems = await faceProblems({ "cmd/headcni.ts": entry }, rule);
    assertEquals(problems.map(({ path, rule, what }) => ({ path, rule, what })), [
      { path: "lib/cni/elsewhere.ts", rule: "face", what: "there is no such module" },
    ]);
  }
});
