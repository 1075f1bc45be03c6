/**
 * Reading values out of a network configuration, with errors that name the key.
 *
 * Keys match in any case, as they do for plugins in Go: containerd sends the objects of
 * `runtimeConfig` with capital letters (`Subnet`, `RangeStart`), CRI-O and podman without.
 */

import { PoolConfigError } from "./errors.ts";

/** A JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether `value` is a JSON object. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value of `key` in `object`: as written, else in another case; `null` is absent. */
export function valueOf(object: JsonObject, key: string): unknown {
  if (Object.hasOwn(object, key)) return object[key] ?? undefined;
  const small = key.toLowerCase();
  const other = Object.keys(object).find((candidate) => candidate.toLowerCase() === small);
  return other === undefined ? undefined : object[other] ?? undefined;
}

/** The object at `key`; `undefined` if absent. @throws {PoolConfigError} */
export function objectOf(
  object: JsonObject,
  key: string,
  path: string = key,
): JsonObject | undefined {
  const value = valueOf(object, key);
  if (value === undefined || isObject(value)) return value;
  throw new PoolConfigError(path, `it is ${kindOf(value)} instead of an object`);
}

/** The list at `key`; empty if absent. @throws {PoolConfigError} */
export function listOf(object: JsonObject, key: string, path: string = key): readonly unknown[] {
  const value = valueOf(object, key) ?? [];
  if (Array.isArray(value)) return value;
  throw new PoolConfigError(path, `it is ${kindOf(value)} instead of a list`);
}

/** The text at `key`; `undefined` if absent or empty. @throws {PoolConfigError} */
export function textOf(object: JsonObject, key: string, path: string = key): string | undefined {
  const value = valueOf(object, key);
  if (value === undefined || value === "") return undefined;
  if (typeof value === "string") return value;
  throw new PoolConfigError(path, `it is ${kindOf(value)} instead of a text`);
}

/** The result of `parse`, whose failure is told as one of the value at `path`. */
export function parseAt<T>(path: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof Error) || error instanceof PoolConfigError) throw error;
    throw new PoolConfigError(path, error.message, error.cause);
  }
}

/** What `value` is, for a message. */
export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  return typeof value === "string" ? "a text" : `a ${typeof value}`;
}
