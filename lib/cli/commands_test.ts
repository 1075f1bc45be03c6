import { assert, assertEquals } from "@std/assert";
import { type Command, flagsOf } from "./command.ts";
import { ROOT } from "./commands.ts";

function all(command: Command): Command[] {
  return [command, ...(command.commands ?? []).flatMap(all)];
}

Deno.test("every command says what it does and gives an example", () => {
  for (const { name, summary, examples } of all(ROOT)) {
    assert(summary.length > 0 && summary.length <= 70 && !summary.endsWith("."), name);
    assert(examples !== undefined && examples.length > 0, `${name} has no example`);
  }
});

Deno.test("no command has two flags of one name or letter", () => {
  for (const command of all(ROOT)) {
    const names = flagsOf(command).flatMap(({ name, short }) => short ? [name, short] : [name]);
    assertEquals(names.length, new Set(names).size, `${command.name}: ${names}`);
  }
});

Deno.test("every listed command can be loaded, but for help, which is the table itself", async () => {
  for (const { name, load, commands } of all(ROOT)) {
    if (commands !== undefined || name === "help") continue;
    assertEquals(typeof (await load?.())?.run, "function", name);
  }
});
