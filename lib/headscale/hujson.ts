/**
 * Reads HuJSON (JSON with comments and trailing commas, RFC 8259 otherwise) and remembers where
 * everything stands in the text, so that text can be put in without touching the rest.
 */

import { HeadcniError } from "../sys/errors.ts";

/** Where a value stands: from its first character to behind its last. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/** A text, number, `true`, `false` or `null`. */
export interface HujsonScalar extends Span {
  readonly kind: "scalar";
  readonly value: string | number | boolean | null;
}

/** What lists and objects have in common. */
interface Container extends Span {
  /** Whether a comma follows the last element. */
  readonly trailingComma: boolean;
  /** Behind the last thing inside that is no white space: element, comma, comment or bracket. */
  readonly contentEnd: number;
}

/** A list. */
export interface HujsonList extends Container {
  readonly kind: "list";
  readonly elements: readonly HujsonValue[];
}

/** A member of an object. */
export interface HujsonMember {
  readonly key: string;
  readonly value: HujsonValue;
}

/** An object. */
export interface HujsonObject extends Container {
  readonly kind: "object";
  readonly members: readonly HujsonMember[];
}

/** Any value. */
export type HujsonValue = HujsonScalar | HujsonList | HujsonObject;

/** Text that is no HuJSON. */
export class HujsonError extends HeadcniError {
  override readonly name = "HujsonError";
}

/** No policy nests this deep. */
const MAX_DEPTH = 64;

/**
 * The value `text` holds.
 *
 * @throws {HujsonError} naming line and column.
 *
 * @example
 * ```ts
 * import { parseHujson, plainValue } from "./hujson.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const text = '{"acls": [], /* nobody yet *\/ }';
 * assertEquals(plainValue(parseHujson(text)), { acls: [] });
 * ```
 */
export function parseHujson(text: string): HujsonValue {
  const reader = new Reader(text);
  reader.skipBlank();
  const value = reader.value(0);
  reader.skipBlank();
  if (!reader.atEnd) throw reader.error("there is more after the value");
  return value;
}

/** `value` as `JSON.parse` would have it. */
export function plainValue(value: HujsonValue): unknown {
  if (value.kind === "scalar") return value.value;
  if (value.kind === "list") return value.elements.map(plainValue);
  return Object.fromEntries(value.members.map(({ key, value }) => [key, plainValue(value)]));
}

/** A text, or the word of a number, `true`, `false`, `null`. */
const SCALAR = /"(?:[^"\\\n]|\\.)*"|[-+.\w]+/y;
const BLANK = /(?:[ \t\r\n]+|\/\/[^\n]*|\/\*[^]*?\*\/)+/y;

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get atEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  /** Moves over white space and comments; returns behind the last comment, if there was one. */
  skipBlank(): number | undefined {
    BLANK.lastIndex = this.#at;
    const blank = BLANK.exec(this.#text)?.[0] ?? "";
    const start = this.#at;
    this.#at += blank.length;
    const solid = blank.trimEnd().length;
    return solid === 0 ? undefined : start + solid;
  }

  value(depth: number): HujsonValue {
    if (depth > MAX_DEPTH) throw this.error(`it nests deeper than ${MAX_DEPTH}`);
    if (this.#peek() === "{") return this.#object(depth);
    if (this.#peek() === "[") return this.#list(depth);
    return this.#scalar();
  }

  error(reason: string): HujsonError {
    const before = this.#text.slice(0, this.#at).split("\n");
    const place = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
    return new HujsonError({ operation: "read HuJSON", reason: `${reason} (${place})` });
  }

  #peek(): string {
    return this.#text.charAt(this.#at);
  }

  #object(depth: number): HujsonObject {
    const members: HujsonMember[] = [];
    const rest = this.#container("}", () => {
      const key = this.#scalar();
      if (typeof key.value !== "string") throw this.error("a key is a text");
      this.skipBlank();
      if (this.#peek() !== ":") throw this.error("a colon is missing after a key");
      this.#at++;
      this.skipBlank();
      members.push({ key: key.value, value: this.value(depth + 1) });
    });
    return { kind: "object", members, ...rest };
  }

  #list(depth: number): HujsonList {
    const elements: HujsonValue[] = [];
    const rest = this.#container("]", () => elements.push(this.value(depth + 1)));
    return { kind: "list", elements, ...rest };
  }

  /** From the opening bracket to `close`, with `readOne` for what stands between commas. */
  #container(close: string, readOne: () => void): Container {
    const start = this.#at++;
    let [contentEnd, trailingComma] = [this.#at, false];
    for (let first = true;; first = false) {
      contentEnd = this.skipBlank() ?? contentEnd;
      if (this.#peek() === close) return { start, end: ++this.#at, trailingComma, contentEnd };
      if (!first && !trailingComma) throw this.error(`a comma or ${close} is missing`);
      readOne();
      contentEnd = this.#at;
      contentEnd = this.skipBlank() ?? contentEnd;
      trailingComma = this.#peek() === ",";
      if (trailingComma) contentEnd = ++this.#at;
    }
  }

  #scalar(): HujsonScalar {
    SCALAR.lastIndex = this.#at;
    const word = SCALAR.exec(this.#text)?.[0];
    if (word === undefined) throw this.error("a value is missing");
    const start = this.#at;
    let value: unknown;
    try {
      value = JSON.parse(word);
    } catch {
      throw this.error(`${word.slice(0, 40)} is no value`);
    }
    this.#at += word.length;
    if (!isScalar(value)) throw this.error(`${word.slice(0, 40)} is no value`);
    return { kind: "scalar", value, start, end: this.#at };
  }
}

function isScalar(value: unknown): value is HujsonScalar["value"] {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}
