/**
 * Reads JSON of unknown shape, key by key, and remembers all that is wrong.
 *
 * A person who writes a configuration wants to hear of all mistakes at once. Every method
 * returns `undefined` for what is absent or wrong; {@linkcode JsonReader.finish} throws
 * when anything was wrong.
 */

import { ConfigError, type ConfigProblem } from "./config_error.ts";

/** A JSON object. */
export type JsonObject = { readonly [key: string]: unknown };

/** Whether `value` is a JSON object, not a list and not null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Options of a {@linkcode JsonReader}. */
export interface JsonReaderOptions {
  /** Path of the object, for messages: `"ipam"`. */
  readonly path?: string;
  /** Compare keys without regard to case, as Go programs do on both ends. */
  readonly ignoreCase?: boolean;
  /** Collects problems; shared by readers of nested objects. */
  readonly problems?: ConfigProblem[];
}

/**
 * A JSON object being read.
 *
 * @example
 * ```ts
 * import { JsonReader } from "./json_reader.ts";
 * import { assertThrows } from "@std/assert";
 *
 * const reader = new JsonReader({ mtu: "1500", ipMasq: true });
 * reader.integer("mtu", { min: 68, max: 65535 });
 * reader.boolean("ipMasq");
 * assertThrows(() => reader.finish(), Error, 'mtu is "1500" instead of a whole number');
 * ```
 */
export class JsonReader {
  readonly #object: JsonObject;
  readonly #options: JsonReaderOptions;
  readonly problems: ConfigProblem[];

  constructor(object: JsonObject, options: JsonReaderOptions = {}) {
    this.#object = object;
    this.#options = options;
    this.problems = options.problems ?? [];
  }

  /** The value of `key`; `null` counts as absent, as Go's decoder has it. */
  value(key: string): unknown {
    const own = Object.hasOwn(this.#object, key) ? this.#object[key] : this.#otherCase(key);
    return own === null ? undefined : own;
  }

  /** A text. */
  string(key: string): string | undefined {
    return this.#typed(key, "a text", (value) => typeof value === "string" ? value : undefined);
  }

  /** One of `choices`. */
  choice<const T extends string>(key: string, choices: readonly T[]): T | undefined {
    const text = this.string(key);
    if (text === undefined) return undefined;
    const choice = choices.find((candidate) => candidate === text);
    if (choice === undefined) {
      this.problem(key, `is ${JSON.stringify(text)} instead of one of ${choices.join(", ")}`);
    }
    return choice;
  }

  /** True or false. */
  boolean(key: string): boolean | undefined {
    return this.#typed(
      key,
      "true or false",
      (value) => typeof value === "boolean" ? value : undefined,
    );
  }

  /** A whole number within limits. */
  integer(key: string, limits: { min: number; max: number }): number | undefined {
    const number = this.#typed(
      key,
      "a whole number",
      (value) => Number.isSafeInteger(value) ? value as number : undefined,
    );
    if (number === undefined || number >= limits.min && number <= limits.max) return number;
    this.problem(key, `is ${number}, not between ${limits.min} and ${limits.max}`);
    return undefined;
  }

  /** A text that `parse` understands; what it throws is the problem. */
  parsed<T>(key: string, parse: (text: string) => T): T | undefined {
    const text = this.string(key);
    return text === undefined ? undefined : this.attempt(key, () => parse(text));
  }

  /** A list of texts. */
  strings(key: string): readonly string[] | undefined {
    return this.list(key)?.flatMap((value, index) => {
      if (typeof value === "string") return [value];
      this.problem(`${key}[${index}]`, `is ${show(value)} instead of a text`);
      return [];
    });
  }

  /** A list. */
  list(key: string): readonly unknown[] | undefined {
    return this.#typed(key, "a list", (value) => Array.isArray(value) ? value : undefined);
  }

  /** A list of objects, each with a reader of its own. */
  objects(key: string): readonly JsonReader[] | undefined {
    return this.list(key)?.flatMap((value, index) => this.#nested(`${key}[${index}]`, value) ?? []);
  }

  /** A list of lists of objects; each of the inner lists has to have one. */
  objectLists(key: string): readonly (readonly JsonReader[])[] | undefined {
    return this.list(key)?.map((list, index) => {
      if (Array.isArray(list) && list.length > 0) {
        return list.flatMap((value, at) => this.#nested(`${key}[${index}][${at}]`, value) ?? []);
      }
      this.problem(`${key}[${index}]`, `is ${show(list)} instead of a list with objects`);
      return [];
    });
  }

  /** An object, with a reader that reports to this one. */
  object(key: string, options: { ignoreCase?: boolean } = {}): JsonReader | undefined {
    const value = this.value(key);
    return value === undefined ? undefined : this.#nested(key, value, options);
  }

  /** The object itself. */
  get raw(): JsonObject {
    return this.#object;
  }

  /** Where it is, for messages; empty at the top. */
  get path(): string {
    return this.#options.path ?? "";
  }

  /** Runs `work`; a thrown error becomes the problem of `key`. */
  attempt<T>(key: string, work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      this.problem(key, `is wrong: ${error.message}`);
      return undefined;
    }
  }

  /** Remembers that something is wrong with `key`; an empty one means the object itself. */
  problem(key: string, problem: string): void {
    const path = this.#pathOf(key);
    // Several may read the same part.
    const isKnown = this.problems.some((one) => one.key === path && one.problem === problem);
    if (!isKnown) this.problems.push({ key: path, problem });
  }

  /** @throws {ConfigError} if anything was wrong. */
  finish(): void {
    if (this.problems.length > 0) throw new ConfigError(this.problems);
  }

  #nested(
    key: string,
    value: unknown,
    options: { ignoreCase?: boolean } = {},
  ): JsonReader | undefined {
    if (isJsonObject(value)) {
      const { ignoreCase = this.#options.ignoreCase ?? false } = options;
      return new JsonReader(value, {
        path: this.#pathOf(key),
        ignoreCase,
        problems: this.problems,
      });
    }
    this.problem(key, `is ${show(value)} instead of an object`);
    return undefined;
  }

  #typed<T>(key: string, kind: string, read: (value: unknown) => T | undefined): T | undefined {
    const value = this.value(key);
    if (value === undefined) return undefined;
    const result = read(value);
    if (result === undefined) this.problem(key, `is ${show(value)} instead of ${kind}`);
    return result;
  }

  #otherCase(key: string): unknown {
    if (!this.#options.ignoreCase) return undefined;
    const wanted = key.toLowerCase();
    const found = Object.keys(this.#object).find((candidate) => candidate.toLowerCase() === wanted);
    return found === undefined ? undefined : this.#object[found];
  }

  #pathOf(key: string): string {
    const { path } = this.#options;
    if (path === undefined || key === "") return path ?? key;
    return key.startsWith("[") ? `${path}${key}` : `${path}.${key}`;
  }
}

/** `value` as a message can hold it. */
function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= 60 ? text : `${text.slice(0, 60)}…`;
}
