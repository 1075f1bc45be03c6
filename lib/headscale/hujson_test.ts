import { assertEquals, assertThrows } from "@std/assert";
import { HujsonError, parseHujson, plainValue } from "./hujson.ts";
import { appendTo, applyInsertions } from "./hujson_edit.ts";

Deno.test("HuJSON is JSON with comments and trailing commas", () => {
  const text = `// before
{
  "a": [1, -2.5e3, true, null, "x // no comment \\" /* neither */",], /* in
  between */ "b" /* here */ : {}, // and there
  "c": {"d": []},
}
/* after */`;
  assertEquals(plainValue(parseHujson(text)), {
    a: [1, -2500, true, null, 'x // no comment " /* neither */'],
    b: {},
    c: { d: [] },
  });
});

Deno.test("what is no HuJSON is refused with its place", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["", "a value is missing (line 1, column 1)"],
    ["{", "a value is missing"],
    ['{"a" 1}', "a colon is missing"],
    ['{"a": 1 "b": 2}', "a comma or } is missing"],
    ["[1\n 2]", "a comma or ] is missing (line 2, column 2)"],
    ["[,]", "a value is missing"],
    ["{1: 2}", "a key is a text"],
    ["nope", "nope is no value"],
    ['"a\nb"', "a value is missing"],
    ["{} {}", "there is more after the value"],
    ["/* open", "a value is missing"],
    ["[".repeat(100), "it nests deeper than 64"],
  ];
  for (const [text, reason] of cases) {
    assertThrows(() => parseHujson(text), HujsonError, reason);
  }
});

Deno.test("appending keeps comments and layout where they are", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["[]", "[\n  9\n]"],
    ["[1, 2]", "[1, 2, 9]"],
    ["[1, 2,]", "[1, 2, 9,]"],
    ["[1 /* one */]", "[1, 9 /* one */]"],
    ["[\n  1\n]", "[\n  1,\n  9\n]"],
    ["[\n  1, // one\n]", "[\n  1, // one\n  9,\n]"],
    ["[\n  1 // one\n]", "[\n  1, // one\n  9\n]"],
    ["[\n  // nothing yet\n]", "[\n  // nothing yet\n  9\n]"],
    ["[\n\t\t1]", "[\n\t\t1,\n\t\t9\n\t\t]"],
  ];
  for (const [text, expected] of cases) {
    const list = parseHujson(text);
    if (list.kind !== "list") throw new Error("Cannot test: no list");
    const result = applyInsertions(text, appendTo(text, list, ["9"]));
    assertEquals(result, expected);
    assertEquals((plainValue(parseHujson(result)) as unknown[]).at(-1), 9);
  }
});
