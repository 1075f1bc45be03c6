import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { checkImportTree } from "./check_imports.ts";
import { formatProblem } from "./check/problem.ts";
import { CLEAN_TREE, plantTree, runTool } from "./check/testing.ts";

/** The problems of the clean tree with `changes` planted in it, as the lines that are printed. */
async function problemsWith(changes: Readonly<Record<string, string>>): Promise<string[]> {
  await using tree = await plantTree({ ...CLEAN_TREE, ...changes });
  const { problems } = await checkImportTree(tree.root);
  return problems.map(formatProblem);
}

async function assertOneProblem(
  changes: Readonly<Record<string, string>>,
  start: string,
  includes: string,
): Promise<void> {
  const problems = await problemsWith(changes);
  assertEquals(problems.length, 1, problems.join("\n"));
  assertEquals(problems[0]?.slice(0, start.length), start);
  assertStringIncludes(problems[0] ?? "", includes);
}

Deno.test("check_imports passes a clean tree and counts its files", async () => {
  await using tree = await plantTree(CLEAN_TREE);
  const report = await checkImportTree(tree.root);
  assertEquals(report.problems.map(formatProblem), []);
  assertEquals(report.files, Object.keys(CLEAN_TREE).length - 1);
});

Deno.test("check_imports rejects an import that goes up", async () => {
  await assertOneProblem(
    { "lib/store/mod.ts": `\nimport "../ipam/range.ts";\n`, "lib/ipam/range.ts": "" },
    "lib/store/mod.ts:2: layer: lib/store imports lib/ipam/range.ts, ",
    "pass it in as a parameter",
  );
});

Deno.test("check_imports rejects an import between folders of the same row", async () => {
  await assertOneProblem(
    { "lib/kube/mod.ts": `import type { Range } from "../ipam/mod.ts";\nexport type R = Range;\n` },
    "lib/kube/mod.ts:1: layer: ",
    "imports go down only",
  );
});

Deno.test("check_imports counts a dynamic import for the direction", async () => {
  await assertOneProblem(
    { "lib/sys/errors.ts": `await import("../cli/mod.ts");\n` },
    "lib/sys/errors.ts:1: layer: ",
    "lib/sys imports lib/cli/mod.ts",
  );
});

for (const folder of ["headscale", "tailscale", "kube"]) {
  Deno.test(`check_imports forbids lib/cni to import lib/${folder}`, async () => {
    await assertOneProblem(
      { "lib/cni/add.ts": `import "../${folder}/x.ts";\n`, [`lib/${folder}/x.ts`]: "" },
      `lib/cni/add.ts:1: ban: lib/cni imports lib/${folder}/x.ts, `,
      "a pod must start while the control plane is away",
    );
  });
}

Deno.test("check_imports forbids lib/cli to import lib/daemon", async () => {
  await assertOneProblem(
    { "lib/cli/mod.ts": `import "../daemon/mod.ts";\n` },
    "lib/cli/mod.ts:1: ban: ",
    "doctor must work when the daemon is broken",
  );
});

Deno.test("check_imports allows lib/ip nothing of lib/sys but the error base", async () => {
  await assertOneProblem(
    { "lib/ip/mod.ts": `import "../sys/errors.ts";\nimport "../sys/mod.ts";\n` },
    "lib/ip/mod.ts:2: ban: lib/ip imports lib/sys/mod.ts",
    "pure",
  );
});

Deno.test("check_imports rejects a folder of lib that has no layer", async () => {
  await assertOneProblem(
    { "lib/extra/x.ts": "" },
    "lib/extra/x.ts:1: layer: lib/extra has no place in the layers",
    "add its folder to LAYERS",
  );
});

for (const folder of ["tools", "tests", "bench"]) {
  Deno.test(`check_imports keeps lib and cmd out of ${folder}`, async () => {
    await assertOneProblem(
      { "lib/cli/mod.ts": `import "../../${folder}/x.ts";\n`, [`${folder}/x.ts`]: "" },
      `lib/cli/mod.ts:1: outside: lib imports ${folder}/x.ts`,
      "not shipped",
    );
    await assertOneProblem(
      { "cmd/other.ts": `import "../${folder}/x.ts";\n`, [`${folder}/x.ts`]: "" },
      `cmd/other.ts:1: outside: cmd imports ${folder}/x.ts`,
      "not shipped",
    );
  });
}

Deno.test("check_imports keeps lib out of cmd", async () => {
  await assertOneProblem(
    { "lib/cli/mod.ts": `import "../../cmd/other.ts";\n`, "cmd/other.ts": "" },
    "lib/cli/mod.ts:1: layer: lib imports cmd/other.ts",
    "let cmd call lib",
  );
});

Deno.test("check_imports keeps fakes out of the product", async () => {
  await assertOneProblem(
    { "lib/ipam/mod.ts": `import "../store/testing.ts";\n` },
    "lib/ipam/mod.ts:1: testing: imports the fakes of lib/store/testing.ts",
    "must not be shipped",
  );
});

Deno.test("check_imports lets tests borrow fakes of their own row, and of no row above", async () => {
  assertEquals(
    await problemsWith({
      "lib/sys/testing.ts": "",
      "lib/ip/mod_test.ts": `import "../sys/testing.ts";\n`,
    }),
    [],
  );
  await assertOneProblem(
    { "lib/sys/errors_test.ts": `import "../store/testing.ts";\n` },
    "lib/sys/errors_test.ts:1: layer: lib/sys imports lib/store/testing.ts",
    "imports go down only",
  );
});

Deno.test("check_imports rejects an import of a test", async () => {
  await assertOneProblem(
    { "lib/store/mod_test.ts": "", "lib/ipam/pool_test.ts": `import "../store/mod_test.ts";\n` },
    "lib/ipam/pool_test.ts:1: testing: imports the test lib/store/mod_test.ts",
    "testing.ts",
  );
});

const MISPLACED_PACKAGES = {
  "ipaddr.js": "lib/netlink/mod.ts",
  "@std/yaml": "lib/store/mod.ts",
  "@std/assert": "lib/store/mod.ts",
  "prom-client": "lib/kube/mod.ts",
  "npm:@kubernetes/client-node@1.4.0": "lib/daemon/mod.ts",
  "node:sqlite": "lib/ipam/mod.ts",
  "deno-std/yaml/mod.js": "lib/daemon/mod.ts",
};

for (const [specifier, path] of Object.entries(MISPLACED_PACKAGES)) {
  Deno.test(`check_imports leaves ${specifier} to its owner`, async () => {
    const problems = await problemsWith({ [path]: `import "${specifier}";\n` });
    const own = problems.filter((line) => !line.includes(": face: "));
    assertEquals(own.length, 1, problems.join("\n"));
    assertStringIncludes(own[0] ?? "", `${path}:1: package: imports `);
  });
}

Deno.test("check_imports wants an owner for every package, wherever it is used", async () => {
  await assertOneProblem(
    { "tools/build.ts": `import "left-pad";\n` },
    "tools/build.ts:1: package: package left-pad has no owner",
    "PACKAGES in tools/check/import_rules.ts",
  );
});

Deno.test("check_imports rejects cycles of static imports, but none through types or import()", async () => {
  await assertOneProblem(
    {
      "lib/store/a.ts": `import "./b.ts";\n`,
      "lib/store/b.ts": `\nimport "./c.ts";\n`,
      "lib/store/c.ts": `\n\nimport "./a.ts";\n`,
    },
    "lib/store/c.ts:3: cycle: ",
    "lib/store/a.ts → lib/store/b.ts → lib/store/c.ts → lib/store/a.ts",
  );
  assertEquals(
    await problemsWith({
      "lib/store/a.ts": `import type { B } from "./b.ts";\nexport type A = B[];\n`,
      "lib/store/b.ts": `import type { A } from "./a.ts";\nexport type B = { a: A };\n`,
      "lib/cli/commands.ts": `export const load = () => import("./help.ts");\n`,
      "lib/cli/help.ts": `import { load } from "./commands.ts";\nexport const help = load;\n`,
    }),
    [],
  );
});

Deno.test("check_imports reports imports that lead nowhere", async () => {
  await assertOneProblem(
    { "lib/cli/mod.ts": `import "./gone.ts";\n` },
    `lib/cli/mod.ts:1: graph: "./gone.ts" leads nowhere`,
    "Module not found",
  );
  await assertOneProblem(
    { "lib/cli/mod.ts": `import "no-such-name";\n` },
    `lib/cli/mod.ts:1: graph: "no-such-name" leads nowhere`,
    "not in import map",
  );
  await assertOneProblem(
    { "lib/cli/page.ts": `export const page = 1;\nimport (((\n` },
    "lib/cli/page.ts:2: graph: cannot be read",
    "correct the file",
  );
});

Deno.test("tools/check_imports.ts prints one line for a clean tree and exits with 0", async () => {
  await using tree = await plantTree(CLEAN_TREE);
  const { code, stdout, stderr } = await runTool("check_imports.ts", [tree.root]);
  assertEquals({ code, stderr }, { code: 0, stderr: "" });
  assertEquals(stdout, "check_imports: 22 files, 0 problems\n");
});

Deno.test("tools/check_imports.ts names the problems and exits with 1", async () => {
  await using tree = await plantTree({
    ...CLEAN_TREE,
    "lib/cli/mod.ts": `import "../daemon/mod.ts";\n`,
  });
  const { code, stderr } = await runTool("check_imports.ts", [tree.root]);
  assertEquals(code, 1);
  assertMatch(stderr, /^lib\/cli\/mod\.ts:1: ban: [^\n]+\ncheck_imports: 22 files, 1 problem\n$/);
});

Deno.test("tools/check_imports.ts can be pointed at another face", async () => {
  await using tree = await plantTree(CLEAN_TREE);
  const { code, stderr } = await runTool("check_imports.ts", [
    tree.root,
    "--face",
    "lib/cni/nowhere.ts",
  ]);
  assertEquals(code, 1);
  assertStringIncludes(stderr, "lib/cni/nowhere.ts:1: face: there is no such module");
});

Deno.test("tools/check_imports.ts fails on a directory that is no git tree", async () => {
  const { code, stderr } = await runTool("check_imports.ts", ["/proc"]);
  assertEquals(code, 1);
  assertStringIncludes(stderr, "check_imports: Cannot list the files of");
});
