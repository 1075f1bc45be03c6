import { assertEquals, assertThrows } from "@std/assert";
import { HeadcniError } from "./errors.ts";
import { JsonShapeError, parseJsonView } from "./json_view.ts";

const read = (value: unknown) => parseJsonView(JSON.stringify(value), "answer");

Deno.test("null, absence and empty text are the empty value", () => {
  const view = read({ text: "", nothing: null });
  assertEquals(view.optionalText("text"), undefined);
  for (const key of ["nothing", "absent"]) {
    assertEquals([view.optionalText(key), view.flag(key), view.number(key)], [undefined, false, 0]);
    assertEquals([view.optionalFlag(key), view.object(key)], [undefined, undefined]);
    assertEquals([view.texts(key), view.members(key)], [[], []]);
  }
});

Deno.test("what is wrong is named with its path, and its content is not told", () => {
  const view = read({ a: { b: { c: ["x", 5] } }, secret: "hskey-1", list: [{}, 1], n: 1 });
  const wrong: [() => unknown, string][] = [
    [() => view.required("a").required("b").texts("c"), "a.b.c[1] is 5 instead of a text"],
    [() => view.number("secret"), "secret is a text instead of a number"],
    [() => view.flag("secret"), "secret is a text instead of true or false"],
    [() => view.required("secret"), "secret is a text instead of an object"],
    [() => view.objects("list"), "list[1] is 1 instead of an object"],
    [() => view.text("list"), "list is a list instead of a text"],
    [() => view.texts("a"), "a is an object instead of a list"],
    [() => view.members("n"), "n is 1 instead of an object"],
    [() => view.text("absent"), "absent is absent instead of a text"],
    [() => view.text("toString"), "toString is absent instead of a text"],
  ];
  for (const [attempt, reason] of wrong) {
    assertThrows(attempt, JsonShapeError, `Cannot read answer: ${reason}`);
  }
});

Deno.test("what a parser says becomes the reason; a bug stays a bug", () => {
  const parse = (): never => {
    throw new HeadcniError({ operation: "parse", reason: "it is odd" });
  };
  const bug = (): never => {
    throw new TypeError("Cannot go on: bug");
  };
  const view = read({ a: "x" });
  assertThrows(() => view.parsed("a", parse), JsonShapeError, "a is wrong: it is odd");
  assertThrows(() => view.parsed("a", bug), TypeError);
});

Deno.test("what is no JSON object is refused without quoting it", () => {
  for (const [text, reason] of [["{", "no JSON"], ["[]", "a list"], ["null", "absent"]]) {
    assertThrows(() => parseJsonView(text ?? "", "answer"), JsonShapeError, reason);
  }
});
