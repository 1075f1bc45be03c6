import { assert, assertEquals, assertFalse, assertMatch } from "@std/assert";
import { HeadcniError } from "./errors.ts";
import { formatJson, formatText } from "./log_format.ts";
import type { Fields, Level } from "./log_record.ts";
import { Secret } from "./secret.ts";
import { type SeededRandom, seededRandom } from "./testing.ts";

const text = (fields: Fields, level: Level = "INFO") =>
  formatText({ time: 0, level, message: "m", fields }).slice(
    `time=1970-01-01T00:00:00.000Z level=${level} msg="m" `.length,
    -1,
  );

const json = (fields: Fields, level: Level = "INFO") => {
  const { time: _time, level: _level, msg: _msg, ...rest } = JSON.parse(
    formatJson({ time: 0, level, message: "m", fields }),
  );
  return rest;
};

Deno.test("formatText() renders each kind of value", () => {
  const table: [value: unknown, rendered: string][] = [
    ["plain", "plain"],
    ["10.0.0.1/24", "10.0.0.1/24"],
    ["fd00::1", "fd00::1"],
    ["two words", '"two words"'],
    ["", '""'],
    ["a=b", '"a=b"'],
    ['say "x"', String.raw`"say \"x\""`],
    ["back\\slash", String.raw`"back\\slash"`],
    ["größe", '"größe"'],
    [1.5, "1.5"],
    [NaN, "NaN"],
    [2n ** 64n, "18446744073709551616"],
    [true, "true"],
    [null, "null"],
    [Symbol("s"), "Symbol(s)"],
    [() => 1, "[function]"],
    [new Date(0), "1970-01-01T00:00:00.000Z"],
    [["10.0.0.1", "fd00::1"], "10.0.0.1,fd00::1"],
    [[1, 2n], "1,2"],
    [["a,b"], String.raw`"[\"a,b\"]"`],
    [[""], String.raw`"[\"\"]"`],
    [[], '""'],
    [new Set(["a"]), "a"],
    [new Map([["k", "v"]]), String.raw`"[[\"k\",\"v\"]]"`],
    [{ a: { b: 1n } }, String.raw`"{\"a\":{\"b\":\"1\"}}"`],
    [new Error("x", { cause: new Error("y") }), '"x: y"'],
    [{ toJSON: () => "own form" }, '"own form"'],
  ];
  for (const [value, rendered] of table) assertEquals(text({ value }), `value=${rendered}`);
  assertEquals(text({ gone: undefined, here: 1 }), "here=1");
});

Deno.test("formatJson() keeps types JSON has and makes text of the others", () => {
  assertEquals(json({ a: 1, b: true, c: null, d: undefined, e: 5n, f: [1, { g: "x" }] }), {
    a: 1,
    b: true,
    c: null,
    e: "5",
    f: [1, { g: "x" }],
  });
});

Deno.test("formats print secrets as stars, however deep", () => {
  const fields = { key: new Secret("hunter2"), nested: { list: [new Secret("hunter2")] } };
  assertFalse(text(fields).includes("hunter2"));
  assertEquals(json(fields), { key: "***", nested: { list: ["***"] } });
});

Deno.test("formats survive cycles, depth, size and getters that throw", () => {
  const loop: Record<string, unknown> = { name: "x" };
  loop.self = loop;
  assertEquals(json({ loop }), { loop: { name: "x", self: "[circular]" } });

  const deep = JSON.parse(`${'{"a":'.repeat(50)}1${"}".repeat(50)}`);
  assertEquals(json({ deep }), { deep: { a: { a: { a: { a: { a: "[…]" } } } } } });

  const bad = {
    get x() {
      throw new Error("no");
    },
  };
  assertEquals(json({ bad }), { bad: "[unreadable]" });
  assert(text({ long: "x".repeat(1_000_000) }).length < 10_000);
  assert(text({ list: Array(1_000_000).fill(1) }).length < 1000);
});

Deno.test("formats tell an object seen twice from a cycle", () => {
  const shared = { a: 1 };
  assertEquals(json({ list: [shared, shared] }), { list: [{ a: 1 }, { a: 1 }] });
});

Deno.test("formats add the remedy of our errors and the stack of others", () => {
  const ours = new HeadcniError({ operation: "read", reason: "denied", remedy: "chmod 600 x" });
  assertEquals(json({ error: ours }, "ERROR"), {
    error: "Cannot read: denied",
    error_remedy: "chmod 600 x",
  });
  const bug = new TypeError("x is undefined");
  assertMatch(json({ error: bug }, "ERROR").error_stack, /log_format_test\.ts/);
  assertEquals(json({ error: bug }, "WARN"), { error: "x is undefined" });
});

Deno.test("formats keep time, level and message out of reach of fields", () => {
  assertEquals(text({ msg: "forged", level: "DEBUG" }), "msg_=forged level_=DEBUG");
  assertEquals(
    JSON.parse(formatJson({ time: 0, level: "INFO", message: "m", fields: { msg: 1 } })),
    {
      time: "1970-01-01T00:00:00.000Z",
      level: "INFO",
      msg: "m",
      msg_: 1,
    },
  );
});

Deno.test("formatText() cleans names of fields", () => {
  assertEquals(text({ "a b\n=\u001b": 1 }), "a_b___=1");
});

/** Everything a terminal or an editor may act on, and the characters that build log lines. */
const HOSTILE = [...'\n\r\t\0\u001b\u007f\u0085\u009b\u2028\u2029\u202e\u2066\u200f\ufeff"\\= aé𝄞'];

function hostileText(random: SeededRandom): string {
  const characters = Array.from({ length: random.integer(12) }, () => {
    return HOSTILE[random.integer(HOSTILE.length)];
  });
  return characters.join("");
}

Deno.test("formats give one line without control characters for any text", () => {
  const random = seededRandom(3);
  // deno-lint-ignore no-control-regex
  const active = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/;
  for (let i = 0; i < 2000; i++) {
    const message = hostileText(random);
    const pod = hostileText(random);
    const record = { time: 0, level: "INFO", message, fields: { pod, list: [pod] } } as const;
    const line = formatText(record);
    assertFalse(active.test(line.slice(0, -1)), JSON.stringify(line));
    const parsed = parseLogfmt(line);
    assertEquals([parsed.msg, parsed.pod, parsed.level], [message, pod, "INFO"]);

    const jsonLine = formatJson(record);
    assertFalse(active.test(jsonLine.slice(0, -1)), JSON.stringify(jsonLine));
    assertEquals(JSON.parse(jsonLine).pod, pod);
  }
});

/** A reader of the format: bare words, or JSON strings. Throws on anything else. */
function parseLogfmt(line: string): Record<string, string> {
  const fields: Record<string, string> = {};
  let rest = line.trimEnd();
  while (rest !== "") {
    const match = /^([\w.-]+)=("(?:[^"\\]|\\.)*"|[^\s"=]*)(?: |$)/.exec(rest);
    assert(match !== null, `not logfmt: ${rest}`);
    const [whole, key = "", value = ""] = match;
    fields[key] = value.startsWith('"') ? JSON.parse(value) : value;
    rest = rest.slice(whole.length);
  }
  return fields;
}
