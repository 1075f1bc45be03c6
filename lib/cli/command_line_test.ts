import { assertEquals, assertStringIncludes } from "@std/assert";
import { runCommandLine, type Terminal } from "./command_line.ts";

/** A terminal that remembers; `fail` makes its standard output throw. */
function remembering(fail?: unknown): Terminal & { said(): string } {
  let text = "";
  const write = (more: string) => {
    text += more;
  };
  const broken = () => {
    throw fail;
  };
  return {
    stdout: { write: fail === undefined ? write : broken, isTerminal: false },
    stderr: { write, isTerminal: false },
    noColor: false,
    said: () => text,
  };
}

// `version` loads libmnl, which stays loaded; the first test to do so must not be blamed.
const loadsLibraries = { sanitizeResources: false };

Deno.test(
  "runCommandLine() calls an unexpected error a bug and asks for a report",
  loadsLibraries,
  async () => {
    const terminal = remembering(new TypeError("x is not a function"));
    assertEquals(await runCommandLine(["version"], terminal), 1);
    assertStringIncludes(terminal.said(), "This is a bug in headcni: x is not a function");
    assertStringIncludes(terminal.said(), "Report it");
  },
);

Deno.test("runCommandLine() runs from source, where no build facts exist", async () => {
  const terminal = remembering();
  assertEquals(await runCommandLine(["version"], terminal), 0);
  assertStringIncludes(terminal.said(), "0.0.0-source");
});
