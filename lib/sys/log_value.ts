/** Making any value fit for a log line: no cycles, no size without end, no control characters. */

import { describeError } from "./errors.ts";

/** What JSON can hold. */
export type Plain = string | number | boolean | null | Plain[] | { [key: string]: Plain };

const MAX_DEPTH = 5;
const MAX_ENTRIES = 100;
const MAX_CHARACTERS = 8192;

/**
 * `value` as JSON can hold it.
 *
 * Errors become their cause chain, `toJSON` is honoured (addresses become text, a `Secret`
 * becomes `***`), a `bigint` becomes text, and what is deep, long or circular is cut short.
 */
export function plainValue(value: unknown): Plain {
  return convert(value, []);
}

function convert(value: unknown, parents: readonly object[]): Plain {
  switch (typeof value) {
    case "string":
      return shorten(value);
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) ? value : String(value);
    case "object":
      return value === null ? null : convertObject(value, parents);
    case "function":
      return "[function]";
    default:
      return String(value);
  }
}

function convertObject(value: object, parents: readonly object[]): Plain {
  if (parents.includes(value)) return "[circular]";
  if (parents.length >= MAX_DEPTH) return "[…]";
  const within = [...parents, value];
  try {
    if (value instanceof Error) return shorten(describeError(value));
    if ("toJSON" in value && typeof value.toJSON === "function") {
      return convert(value.toJSON(), within);
    }
    if (Symbol.iterator in value) return convertList(value as Iterable<unknown>, within);
    const entries = Object.entries(value).slice(0, MAX_ENTRIES);
    return Object.fromEntries(entries.map(([key, member]) => [key, convert(member, within)]));
  } catch {
    // A getter or toJSON that throws; the rest of the line is still worth having.
    return "[unreadable]";
  }
}

function convertList(values: Iterable<unknown>, parents: readonly object[]): Plain[] {
  const list: Plain[] = [];
  for (const value of values) {
    if (list.length === MAX_ENTRIES) {
      list.push("…");
      break;
    }
    list.push(convert(value, parents));
  }
  return list;
}

function shorten(text: string): string {
  return text.length <= MAX_CHARACTERS
    ? text
    : `${text.slice(0, MAX_CHARACTERS)}…(${text.length} characters)`;
}

/**
 * Characters JSON leaves as they are but a terminal or an editor acts on: DEL and the C1
 * controls (U+009B begins an escape sequence), line separators, and the invisible marks
 * that reorder text on the screen.
 */
const ACTIVE = /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** `json` with {@linkcode ACTIVE} characters escaped; still the same JSON value. */
export function escapeActive(json: string): string {
  return json.replace(ACTIVE, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
