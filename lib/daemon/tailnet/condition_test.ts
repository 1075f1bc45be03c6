import { assert, assertEquals } from "@std/assert";
import { condition, CONDITIONS, isWorking } from "./condition.ts";

Deno.test("every condition is in the manual, with its severity and meaning", async () => {
  const page = await Deno.readTextFile(new URL("../../../docs/tailnet.md", import.meta.url));
  const rows = [...page.matchAll(/^\| `(\w+)` +\| (\w+) +\| (.*?) +\|$/gm)]
    .map(([, code = "", severity = "", meaning = ""]) => [code, [severity, meaning]]);
  const documented = Object.fromEntries(rows);
  for (const [code, row] of Object.entries(CONDITIONS)) assertEquals(documented[code], [...row]);
});

Deno.test("warnings are no reason to say that nothing works", () => {
  assert(isWorking([condition("HeadscaleAway", "no answer")]));
  assert(!isWorking([condition("LoggedOut", "no login")]));
  assert(!isWorking([condition("NotApproved", "not yet")]));
});
