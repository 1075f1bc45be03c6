import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { Run } from "../../lib/sys/process.ts";
import { ProcessError } from "../../lib/sys/process_error.ts";
import { temporaryDirectory } from "../../lib/sys/testing.ts";
import { goPart, GoPartError, NoGoError } from "./build_part.ts";
import { GO_PARTS, HEADSCALE_VERSIONS, TAILSCALE_VERSION } from "./parts.ts";

const [PART] = GO_PARTS;
const silent = () => {};

/** What a test lets Go do; by default everything works. */
interface Script {
  readonly download?: { code: number; stdout: string };
  readonly build?: (program: string) => { code: number; stderr: string };
}

/** A Go that follows `script`, and the command lines it got. */
function scriptedGo(script: Script = {}): { run: Run; calls: string[] } {
  const calls: string[] = [];
  const result = { code: 0, signal: undefined, stdout: "", stderr: "", durationMs: 1 };
  const run: Run = async (command, args) => {
    calls.push([command, ...args].join(" "));
    await Promise.resolve();
    if (args[1] === "mod") {
      const download = { code: 0, stdout: JSON.stringify({ Sum: PART?.moduleSum, Dir: "/src" }) };
      return { ...result, ...script.download ?? download };
    }
    if (args[1] !== "build") return result;
    return { ...result, ...(script.build ?? writeProgram)(args[args.indexOf("-o") + 1] ?? "") };
  };
  return { run, calls };
}

function writeProgram(program: string): { code: number; stderr: string } {
  Deno.writeTextFileSync(program, "program");
  return { code: 0, stderr: "" };
}

function names(directory: string): string[] {
  return [...Deno.readDirSync(directory)].map(({ name }) => name).sort();
}

Deno.test("goPart builds a part once and then finds it", async () => {
  assert(PART);
  using cache = temporaryDirectory();
  const { run, calls } = scriptedGo();
  const options = { run, directory: cache.path, say: silent };
  const first = await goPart(PART.name, PART.version, options);
  assertEquals(Deno.readTextFileSync(first), "program");
  assertEquals(calls.length, 4);
  assertStringIncludes(calls[1] ?? "", `go mod download -json ${PART.module}@v${PART.version}`);
  assert(calls[2]?.startsWith("cp -r /src "), "it builds in a copy");
  assert(calls[3]?.endsWith(" ./cmd/tailscaled"), calls[3]);
  assertEquals(await goPart(PART.name, PART.version, options), first);
  assertEquals(calls.length, 4, "the second call ran nothing");
  assertEquals(names(cache.path), ["build.lock", `${PART.name}-${PART.version}`]);
});

Deno.test("two builders of one part build it once", async () => {
  assert(PART);
  using cache = temporaryDirectory();
  const { run, calls } = scriptedGo();
  const options = { run, directory: cache.path, say: silent };
  await Promise.all([1, 2, 3].map(() => goPart(PART.name, PART.version, options)));
  assertEquals(calls.filter((call) => call.includes(" build ")).length, 1);
});

Deno.test("goPart says that Go is missing", async () => {
  assert(PART);
  using cache = temporaryDirectory();
  const run: Run = (command, args) =>
    Promise.reject(new ProcessError({ kind: "NotFound", command, args, reason: "not there" }));
  const error = await assertRejects(
    () => goPart(PART.name, PART.version, { run, directory: cache.path, say: silent }),
    NoGoError,
    `Cannot build ${PART.name} ${PART.version}: Go is not installed`,
  );
  assertStringIncludes(error.remedy ?? "", "Install Go");
});

Deno.test("a build that fails says why and leaves nothing", async () => {
  assert(PART);
  using cache = temporaryDirectory();
  const { run } = scriptedGo({
    build: (program) => ({ ...writeProgram(program), code: 1, stderr: "a\nno space left\n" }),
  });
  await assertRejects(
    () => goPart(PART.name, PART.version, { run, directory: cache.path, say: silent }),
    GoPartError,
    "go build failed: no space left",
  );
  assertEquals(names(cache.path), ["build.lock"]);
});

Deno.test("a proxy that has not got the module is quoted", async () => {
  assert(PART);
  using cache = temporaryDirectory();
  const { run } = scriptedGo({ download: { code: 1, stdout: '{\n\t"Error": "403 Forbidden"\n}' } });
  const error = await assertRejects(
    () => goPart(PART.name, PART.version, { run, directory: cache.path, say: silent }),
    GoPartError,
    "go mod failed: 403 Forbidden",
  );
  assertEquals(error instanceof NoGoError, false, "the gate tells the two apart");
});

Deno.test("a module with another hash than the pinned one is not built", async () => {
  assert(PART);
  using cache = temporaryDirectory();
  const { run, calls } = scriptedGo({ download: { code: 0, stdout: '{"Sum":"h1:other"}' } });
  await assertRejects(
    () => goPart(PART.name, PART.version, { run, directory: cache.path, say: silent }),
    GoPartError,
    "its hash is h1:other",
  );
  assertEquals(calls.length, 2);
});

Deno.test("goPart removes what a killed build left", async () => {
  assert(PART);
  using cache = temporaryDirectory();
  Deno.mkdirSync(`${cache.path}/.building-old`);
  const { run } = scriptedGo();
  await goPart(PART.name, PART.version, { run, directory: cache.path, say: silent });
  assertEquals(names(cache.path), ["build.lock", `${PART.name}-${PART.version}`]);
});

Deno.test("a part nobody listed is refused", async () => {
  await assertRejects(() => goPart("headscale", "0.1.0"), GoPartError, "it is not listed");
});

Deno.test("the versions tests name are parts", () => {
  const parts = GO_PARTS.map(({ name, version }) => `${name} ${version}`);
  for (const version of HEADSCALE_VERSIONS) assert(parts.includes(`headscale ${version}`));
  for (const name of ["tailscale", "tailscaled"]) {
    assert(parts.includes(`${name} ${TAILSCALE_VERSION}`));
  }
});
