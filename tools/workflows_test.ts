import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { parse } from "@std/yaml";
import config from "../deno.json" with { type: "json" };
import { TARGETS } from "./build/targets.ts";
import { checkWorkflow, matrixTargets, type Workflow } from "./workflows.ts";

const FOLDER = new URL("../.github/workflows/", import.meta.url);

async function read(name: string): Promise<{ text: string; workflow: Workflow }> {
  const text = await Deno.readTextFile(new URL(name, FOLDER));
  return { text, workflow: parse(text) as Workflow };
}

Deno.test("every workflow holds to the rules", async () => {
  const names = [...Deno.readDirSync(FOLDER)].map(({ name }) => name).sort();
  assertEquals(names, ["ci.yml", "release.yml"]);
  for (const name of names) {
    const { text, workflow } = await read(name);
    assertEquals(checkWorkflow(workflow, text), [], name);
  }
});

Deno.test("ci.yml runs the gate that people run", async () => {
  const { workflow } = await read("ci.yml");
  const commands = workflow.jobs?.gate?.steps?.map(({ run }) => run) ?? [];
  assert(commands.includes("bash .ci/run"));
});

Deno.test("release.yml builds and tries the targets of the build tool", async () => {
  const { workflow } = await read("release.yml");
  assertEquals(matrixTargets(workflow.jobs?.build), [...TARGETS]);
  assertEquals(matrixTargets(workflow.jobs?.try), [...TARGETS]);
});

/** Runs the script of the step `name` of the job `version`, as the runner would. */
async function compareTag(tag: string): Promise<{ code: number; output: string }> {
  const { workflow } = await read("release.yml");
  const step = workflow.jobs?.version?.steps?.find(({ name }) =>
    name === "Compare the tag with deno.json"
  );
  const { code, stdout } = await new Deno.Command("bash", {
    args: ["-e", "-o", "pipefail", "-c", step?.run ?? "exit 99"],
    cwd: new URL("..", import.meta.url),
    env: { GITHUB_REF_NAME: tag },
    stdout: "piped",
    stderr: "inherit",
  }).output();
  return { code, output: new TextDecoder().decode(stdout) };
}

Deno.test("release.yml stops when the tag is not the version of deno.json", async () => {
  assertEquals((await compareTag(`v${config.version}`)).code, 0);
  for (const tag of ["v99.0.0", config.version, `v${config.version}-rc.1`]) {
    const { code, output } = await compareTag(tag);
    assertEquals(code, 1, tag);
    assertStringIncludes(output, `The tag is ${tag}, deno.json says ${config.version}`);
  }
});

const CLEAN: Workflow = {
  on: { push: {} },
  permissions: { contents: "read" },
  concurrency: "x",
  jobs: { a: { "timeout-minutes": 5, steps: [{ run: "true" }] }, b: { uses: "./x.yml" } },
};

const SHA = "0123456789abcdef0123456789abcdef01234567";

const BROKEN: Readonly<Record<string, Partial<Workflow>>> = {
  "permissions must be": { permissions: { contents: "write" } },
  "concurrency must be set": { concurrency: undefined },
  "pull_request_target": { on: ["pull_request_target"] },
  "there are no jobs": { jobs: {} },
  "a: timeout-minutes must be set": { jobs: { a: { steps: [] } } },
  "a: x/y@v1 must be pinned": {
    jobs: { a: { "timeout-minutes": 1, steps: [{ uses: "x/y@v1" }] } },
  },
  "a: x/y@0123456 must be pinned": {
    jobs: { a: { "timeout-minutes": 1, steps: [{ uses: "x/y@0123456" }] } },
  },
  "a: x/y/z.yml@main must be pinned": {
    jobs: { a: { "timeout-minutes": 1, uses: "x/y/z.yml@main" } },
  },
  "a: checkout must set persist-credentials": {
    jobs: { a: { "timeout-minutes": 1, steps: [{ uses: `actions/checkout@${SHA}` }] } },
  },
  "into a script": {
    jobs: { a: { "timeout-minutes": 1, steps: [{ run: "echo ${{ github.head_ref }}" }] } },
  },
};

for (const [message, change] of Object.entries(BROKEN)) {
  Deno.test(`checkWorkflow() says: ${message}`, () => {
    assertEquals(checkWorkflow(CLEAN, ""), []);
    const problems = checkWorkflow({ ...CLEAN, ...change } as Workflow, "");
    assertEquals(problems.length, 1, problems.join("\n"));
    assertStringIncludes(problems[0] ?? "", message);
  });
}

Deno.test("checkWorkflow() wants the version of an action beside its commit", () => {
  assertEquals(checkWorkflow(CLEAN, `  - uses: x/y@${SHA} # v1.2.3\n  - uses: ./x.yml\n`), []);
  for (const line of [`- uses: x/y@${SHA}`, `  uses: x/y@${SHA} # v1`, "- uses: x/y@v1.2.3"]) {
    const [problem] = checkWorkflow(CLEAN, line);
    assertStringIncludes(problem ?? "", "must name its version in a comment");
  }
});
