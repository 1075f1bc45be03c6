import { assertEquals } from "@std/assert";
import { wrapScript } from "./plugin_script.ts";

Deno.test("wrapScript() makes an expression of a module, in ASCII, with the same strings", () => {
  const wrapped = wrapScript('exports.text = "π → ∞"; exports.needs = require("x");');
  // deno-lint-ignore no-control-regex -- all of ASCII is what may be in it
  assertEquals(/^[\x00-\x7f]*$/.test(wrapped), true);
  const exports: Record<string, unknown> = {};
  // deno-lint-ignore no-eval -- evaluating it is what it is for
  (0, eval)(wrapped)({ exports }, exports, (name: string) => `required ${name}`);
  assertEquals(exports, { text: "π → ∞", needs: "required x" });
});
