import { assertEquals, assertStringIncludes } from "@std/assert";
import { type Command } from "./command.ts";
import { parseCommandLine } from "./parse.ts";

const load = () => Promise.resolve({ run: () => 0 });

/** A table with what real commands will have: a group, values, positionals. */
const ROOT: Command = {
  name: "prog",
  summary: "A program",
  commands: [
    {
      name: "pool",
      summary: "A group",
      flags: [{ name: "data", summary: "Where", value: { placeholder: "DIR" } }],
      commands: [
        {
          name: "show",
          summary: "A command in a group",
          flags: [
            { name: "json", short: "j", summary: "As JSON" },
            { name: "verbose", short: "v", summary: "More" },
          ],
          positionals: [{ name: "ADDRESS", summary: "Which" }],
          load,
        },
      ],
    },
    { name: "run", summary: "A command", load },
  ],
};

function problem(...args: string[]): string {
  return parseCommandLine(ROOT, args).problem?.message ?? "none";
}

Deno.test("parseCommandLine() finds a command inside a group", () => {
  const { path, invocation, problem } = parseCommandLine(ROOT, ["pool", "show", "10.0.0.1"]);
  assertEquals(problem, undefined);
  assertEquals(path.map((command) => command.name), ["prog", "pool", "show"]);
  assertEquals(invocation.positionals, ["10.0.0.1"]);
});

Deno.test("parseCommandLine() takes the flags of a group before its command", () => {
  const { invocation } = parseCommandLine(ROOT, ["pool", "--data", "/x", "show", "1", "--json"]);
  assertEquals([invocation.value("data"), invocation.has("json")], ["/x", true]);
});

Deno.test("parseCommandLine() keeps words that look like numbers as they were typed", () => {
  assertEquals(parseCommandLine(ROOT, ["pool", "show", "010"]).invocation.positionals, ["010"]);
});

Deno.test("parseCommandLine() reads short flags, alone and together", () => {
  const { invocation } = parseCommandLine(ROOT, ["pool", "show", "x", "-jv"]);
  assertEquals([invocation.has("json"), invocation.has("verbose")], [true, true]);
  assertEquals(parseCommandLine(ROOT, ["pool", "show", "x"]).invocation.has("json"), false);
});

Deno.test("parseCommandLine() takes words after -- as they are", () => {
  assertEquals(parseCommandLine(ROOT, ["pool", "show", "--", "-j"]).invocation.positionals, ["-j"]);
});

Deno.test("parseCommandLine() reports the first mistake", () => {
  assertEquals(problem("pol"), 'Cannot use command "pol": prog has no such command');
  assertEquals(problem("pool", "shw"), 'Cannot use command "shw": pool has no such command');
  assertEquals(problem("pool", "show"), "Cannot use show: ADDRESS is missing");
  assertEquals(problem("pool", "--data", "show"), "none"); // "show" is the value here
  assertEquals(problem("pool", "--data"), "Cannot use --data: it needs a value (DIR)");
  assertEquals(problem("run", "x"), 'Cannot use argument "x": run takes no argument');
  assertEquals(problem("run", "--jsn=1"), "Cannot use flag --jsn: there is no such flag");
});

Deno.test("parseCommandLine() knows the flags of a command only there", () => {
  assertStringIncludes(problem("run", "--json"), "flag --json");
});

Deno.test("parseCommandLine() is not confused by names every object has", () => {
  for (const word of ["--__proto__", "--constructor=1", "--toString"]) {
    assertStringIncludes(problem("run", word), "there is no such flag");
  }
});
