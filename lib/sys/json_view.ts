/**
 * Reads JSON that another program made, and says exactly where it is not as expected.
 *
 * For answers of servers, not for configuration: keys nobody asks for are ignored, because
 * the other side may be newer than we are, and the first thing wrong ends the reading.
 * As Go programs have it, `null` and absence mean the empty value.
 */

import { HeadcniError } from "./errors.ts";

/** JSON of another shape than expected. */
export class JsonShapeError extends HeadcniError {
  override readonly name = "JsonShapeError";
}

/** What a {@linkcode JsonView} is a view of, for messages. */
export interface JsonPlace {
  /** What is read, as an error says it: `"status of tailscaled"`. */
  readonly what: string;
  /** Path of the object in it; empty at the top. */
  readonly path: string;
}

/**
 * A JSON object being read.
 *
 * @example
 * ```ts
 * import { JsonShapeError, parseJsonView } from "./json_view.ts";
 * import { assertEquals, assertThrows } from "@std/assert";
 *
 * const view = parseJsonView('{"Self":{"ID":"7","Tags":null}}', "status");
 * const self = view.required("Self");
 * assertEquals([self.text("ID"), self.texts("Tags"), self.flag("Online")], ["7", [], false]);
 * assertThrows(() => view.text("Self"), JsonShapeError, "Cannot read status: Self is an object");
 * ```
 */
export class JsonView {
  readonly #object: Readonly<Record<string, unknown>>;
  readonly #place: JsonPlace;

  constructor(object: Readonly<Record<string, unknown>>, place: JsonPlace) {
    this.#object = object;
    this.#place = place;
  }

  /** A text that must be there. */
  text(key: string): string {
    const value = this.#value(key);
    return typeof value === "string" ? value : this.#wrong(key, value, "a text");
  }

  /** A text; `undefined` if absent or empty. */
  optionalText(key: string): string | undefined {
    if (this.#value(key) === undefined) return undefined;
    const text = this.text(key);
    return text === "" ? undefined : text;
  }

  /** True or false; false if absent. */
  flag(key: string): boolean {
    const value = this.#value(key) ?? false;
    return typeof value === "boolean" ? value : this.#wrong(key, value, "true or false");
  }

  /** True or false; `undefined` if absent. */
  optionalFlag(key: string): boolean | undefined {
    return this.#value(key) === undefined ? undefined : this.flag(key);
  }

  /** A number; zero if absent. */
  number(key: string): number {
    const value = this.#value(key) ?? 0;
    return typeof value === "number" ? value : this.#wrong(key, value, "a number");
  }

  /** A list of texts, each as `parse` has it. */
  parsedTexts<T>(key: string, parse: (text: string) => T): readonly T[] {
    return this.#list(key).map((value, index) => {
      const place = `${key}[${index}]`;
      if (typeof value !== "string") return this.#wrong(place, value, "a text");
      return this.#attempt(place, () => parse(value));
    });
  }

  /** A list of texts. */
  texts(key: string): readonly string[] {
    return this.parsedTexts(key, (text) => text);
  }

  /** A text as `parse` has it; `undefined` if absent or empty. */
  parsed<T>(key: string, parse: (text: string) => T): T | undefined {
    const text = this.optionalText(key);
    return text === undefined ? undefined : this.#attempt(key, () => parse(text));
  }

  /** An object; `undefined` if absent. */
  object(key: string): JsonView | undefined {
    const value = this.#value(key);
    return value === undefined ? undefined : this.#nested(key, value);
  }

  /** An object that must be there. */
  required(key: string): JsonView {
    return this.#nested(key, this.#value(key));
  }

  /** A list of objects. */
  objects(key: string): readonly JsonView[] {
    return this.#list(key).map((value, index) => this.#nested(`${key}[${index}]`, value));
  }

  /** The members of an object of objects. */
  members(key: string): readonly JsonView[] {
    const view = this.object(key);
    return view === undefined ? [] : Object.keys(view.#object).map((name) => view.required(name));
  }

  #list(key: string): readonly unknown[] {
    const value = this.#value(key) ?? [];
    return Array.isArray(value) ? value : this.#wrong(key, value, "a list");
  }

  #nested(key: string, value: unknown): JsonView {
    if (!isObject(value)) return this.#wrong(key, value, "an object");
    return new JsonView(value, { what: this.#place.what, path: this.#pathOf(key) });
  }

  #value(key: string): unknown {
    return Object.hasOwn(this.#object, key) ? this.#object[key] ?? undefined : undefined;
  }

  #attempt<T>(key: string, work: () => T): T {
    try {
      return work();
    } catch (cause) {
      if (!(cause instanceof HeadcniError)) throw cause;
      throw shapeError(this.#place.what, `${this.#pathOf(key)} is wrong: ${cause.reason}`, cause);
    }
  }

  #wrong(key: string, value: unknown, kind: string): never {
    const { what } = this.#place;
    throw shapeError(what, `${this.#pathOf(key)} is ${show(value)} instead of ${kind}`);
  }

  #pathOf(key: string): string {
    return this.#place.path === "" ? key : `${this.#place.path}.${key}`;
  }
}

/**
 * The JSON object in `text`, which is the `what` of somebody.
 *
 * @throws {JsonShapeError} if it is no JSON object.
 */
export function parseJsonView(text: string, what: string): JsonView {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Without the cause: what V8 says of it quotes the text, which may hold a key.
    throw shapeError(what, `it is no JSON (${text.length} characters)`);
  }
  if (!isObject(value)) throw shapeError(what, `it is ${show(value)} instead of an object`);
  return new JsonView(value, { what, path: "" });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Kinds only, no content: an answer may hold a key. */
function show(value: unknown): string {
  if (value === undefined || value === null) return "absent";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  return typeof value === "string" ? "a text" : `${value}`;
}

function shapeError(what: string, reason: string, cause?: unknown): JsonShapeError {
  const operation = `read ${what}`;
  return new JsonShapeError({ operation, reason, ...(cause === undefined ? {} : { cause }) });
}
