import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { checkNameTree } from "./check_names.ts";
import { formatProblem } from "./check/problem.ts";
import { plantTree, runTool } from "./check/testing.ts";

const CLEAN: Readonly<Record<string, string>> = {
  ".gitignore": "/dist/\n",
  "README.md": "# Ours\nSee src/home/index and https://example.org/work/x.\n",
  "deno.lock": `{ "version": "5" }\n`,
  "dist/Manager.ts": "not looked at: ignored by git\n",
  "deploy/chart/templates/_helpers.tpl": "Helm's own name for it\n",
  "lib/ip/mod.ts": '/** Addresses. */\n\nexport { prefix } from "./prefix.ts";\n',
  "lib/ip/prefix.ts": "export const prefix = 1;\n",
  "lib/ip/prefix_test.ts": "",
  "lib/netlink/mod.ts": "/**\n * Messages.\n */\n",
  "lib/netlink/constants.ts": "export const X = 1;\n".repeat(400),
  "lib/netlink/full.ts": "\n".repeat(300),
  "tests/black_box_test.ts": "",
  "types/std/yaml.d.ts": "",
};

async function problemsWith(changes: Readonly<Record<string, string>>): Promise<string[]> {
  await using tree = await plantTree({ ...CLEAN, ...changes });
  const { problems } = await checkNameTree(tree.root);
  return problems.map(formatProblem);
}

async function assertOneProblem(
  changes: Readonly<Record<string, string>>,
  start: string,
): Promise<void> {
  const problems = await problemsWith(changes);
  assertEquals(problems.length, 1, problems.join("\n"));
  assertEquals(problems[0]?.slice(0, start.length), start);
}

/** Joins halves, so that this file does not break the rule it tests. */
function word(...parts: readonly string[]): string {
  return parts.join("");
}

Deno.test("check_names passes a clean tree and does not look at ignored files", async () => {
  await using tree = await plantTree(CLEAN);
  const report = await checkNameTree(tree.root);
  assertEquals(report.problems.map(formatProblem), []);
  assertEquals(report.files, Object.keys(CLEAN).length - 1);
});

for (const name of ["linkAddress", "Link", "link-address", "link__address", "1link"]) {
  Deno.test(`check_names rejects the file name ${name}.ts`, async () => {
    await assertOneProblem(
      { [`lib/ip/${name}.ts`]: "" },
      `lib/ip/${name}.ts:1: case: "${name}.ts" is not snake_case, `,
    );
  });
}

for (
  const banned of [
    "manager",
    "service",
    "utils",
    "util",
    "helper",
    "helpers",
    "misc",
    "common",
  ]
) {
  Deno.test(`check_names rejects the word "${banned}" in a file name`, async () => {
    await assertOneProblem(
      { [`lib/ip/link_${banned}.ts`]: "" },
      `lib/ip/link_${banned}.ts:1: word: "${banned}" in the name, it says nothing`,
    );
  });
}

Deno.test("check_names rejects a banned word in the name of a folder", async () => {
  await assertOneProblem({ "lib/ip/utils/x.ts": "" }, `lib/ip/utils/x.ts:1: word: "utils"`);
});

Deno.test("check_names wants a test beside what it tests, except in tests/", async () => {
  await assertOneProblem(
    { "lib/ip/range_test.ts": "" },
    "lib/ip/range_test.ts:1: test-place: there is no range.ts beside it, ",
  );
});

Deno.test("check_names wants a mod.ts with a doc comment in every folder of lib", async () => {
  await assertOneProblem(
    { "lib/store/schema.ts": "" },
    "lib/store/mod.ts:1: mod: there is no such file, ",
  );
  for (const text of ["export {};\n", "/** */\nexport {};\n", "// Addresses.\n", ""]) {
    await assertOneProblem(
      { "lib/ip/mod.ts": text },
      "lib/ip/mod.ts:1: mod: does not begin with a doc comment, ",
    );
  }
});

for (
  const marker of [
    word("TO", "DO"),
    word("FIX", "ME"),
    word("XX", "X"),
    word("HA", "CK"),
    word("TB", "D"),
    word("WI", "P"),
  ]
) {
  Deno.test(`check_names finds ${marker} left in any text file`, async () => {
    await assertOneProblem(
      { "docs/guide.md": `One\n(${marker}: write this)\n` },
      `docs/guide.md:2: marker: "${marker}", unfinished work`,
    );
  });
}

Deno.test("check_names finds paths of one machine", async () => {
  const paths = [
    word("/ho", "me/jo/.cache"),
    word("/Us", "ers/jo/src"),
    word("/wo", "rk/tree/x.ts"),
    word("C:\\Us", "ers\\jo"),
  ];
  for (const path of paths) {
    await assertOneProblem(
      { "lib/ip/prefix.ts": `export const path = "${path}";\n` },
      "lib/ip/prefix.ts:1: machine-path: ",
    );
    await assertOneProblem(
      { "README.md": `See file://${path}\n` },
      "README.md:1: machine-path: ",
    );
  }
});

Deno.test("check_names finds a private registry in the lock file", async () => {
  await assertOneProblem(
    { "deno.lock": `{\n  "${word("tar", "ball")}": "https://npm.example.org/x.tgz"\n}\n` },
    "deno.lock:2: registry: ",
  );
});

Deno.test("check_names rejects a file of more than 300 lines", async () => {
  await assertOneProblem(
    { "lib/netlink/full.ts": "\n".repeat(301) },
    "lib/netlink/full.ts:301: size: 301 lines, 300 are allowed, ",
  );
  await assertOneProblem(
    { "tools/constants.ts": "\n".repeat(301) },
    "tools/constants.ts:301: size: ",
  );
});

Deno.test("check_names rejects code in a long table of constants", async () => {
  const table = CLEAN["lib/netlink/constants.ts"];
  await assertOneProblem(
    { "lib/netlink/constants.ts": `${table}export function name() {}\n` },
    "lib/netlink/constants.ts:401: size: code in a table of constants, ",
  );
});

Deno.test("check_names looks at tracked files too, but not at deleted ones", async () => {
  await using tree = await plantTree({ ...CLEAN, "lib/ip/Bad.ts": "", "lib/ip/Gone.ts": "" });
  const { success } = await new Deno.Command("git", {
    args: ["-C", tree.root, "add", "--all"],
    stderr: "inherit",
  }).output();
  assertEquals(success, true);
  await Deno.remove(`${tree.root}/lib/ip/Gone.ts`);
  const { problems } = await checkNameTree(tree.root);
  assertEquals(problems.map(({ path, rule }) => `${path} ${rule}`), ["lib/ip/Bad.ts case"]);
});

Deno.test("tools/check_names.ts prints one line for a clean tree and exits with 0", async () => {
  await using tree = await plantTree(CLEAN);
  const { code, stdout, stderr } = await runTool("check_names.ts", [tree.root]);
  assertEquals({ code, stderr }, { code: 0, stderr: "" });
  assertEquals(stdout, "check_names: 12 files, 0 problems\n");
});

Deno.test("tools/check_names.ts names the problems by place and exits with 1", async () => {
  await using tree = await plantTree({ ...CLEAN, "lib/ip/utils.ts": "", "cmd/A.ts": "" });
  const { code, stderr } = await runTool("check_names.ts", [tree.root]);
  assertEquals(code, 1);
  assertMatch(stderr, /^cmd\/A\.ts:1: case: .*\nlib\/ip\/utils\.ts:1: word: .*\n/);
  assertStringIncludes(stderr, "\ncheck_names: 14 files, 2 problems\n");
});

Deno.test("tools/check_names.ts fails on an empty tree", async () => {
  await using tree = await plantTree({});
  const { code, stderr } = await runTool("check_names.ts", [tree.root]);
  assertEquals({ code, stderr }, { code: 1, stderr: "check_names: 0 files, 0 problems\n" });
});
