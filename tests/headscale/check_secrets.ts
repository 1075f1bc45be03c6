/** What must not be anywhere: the API key. */

import { assertEquals } from "@std/assert";
import type { ConformanceCase } from "./conformance_case.ts";

/** The step; it looks at what the others left. */
export async function checkSecrets(t: Deno.TestContext, test: ConformanceCase): Promise<void> {
  await t.step("has the API key in no log, argument or file", () => {
    const key = test.apiKey.expose();
    assertEquals(test.log.lines().filter((line) => line.includes(key)), []);
    assertEquals(filesWith(test.server.directory, key), []);
    assertEquals(commandLinesWith(key), []);
  });
}

function filesWith(directory: string, text: string): string[] {
  return [...Deno.readDirSync(directory)].flatMap(({ name, isDirectory, isFile }) => {
    const path = `${directory}/${name}`;
    if (isDirectory) return filesWith(path, text);
    // Byte for byte: databases are no text.
    const decoder = new TextDecoder("latin1");
    return isFile && decoder.decode(Deno.readFileSync(path)).includes(text) ? [path] : [];
  });
}

function commandLinesWith(text: string): string[] {
  return [...Deno.readDirSync("/proc")].flatMap(({ name }) => {
    try {
      return Deno.readTextFileSync(`/proc/${name}/cmdline`).includes(text) ? [name] : [];
    } catch {
      return []; // no process, or gone by now
    }
  });
}
