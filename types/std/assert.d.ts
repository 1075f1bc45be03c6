/** The part of `@std/assert` this project uses. */

// deno-lint-ignore no-explicit-any
type ErrorClass<E extends Error> = abstract new (...args: any[]) => E;

export function assert(value: unknown, message?: string): asserts value;
export function assertFalse(value: unknown, message?: string): void;
export function assertEquals<T>(actual: T, expected: T, message?: string): void;
export function assertNotEquals<T>(actual: T, expected: T, message?: string): void;
export function assertStrictEquals<T>(actual: unknown, expected: T, message?: string): void;
export function assertExists<T>(value: T, message?: string): asserts value is NonNullable<T>;
export function assertGreater<T>(actual: T, expected: T, message?: string): void;
export function assertGreaterOrEqual<T>(actual: T, expected: T, message?: string): void;
export function assertLess<T>(actual: T, expected: T, message?: string): void;
export function assertLessOrEqual<T>(actual: T, expected: T, message?: string): void;
export function assertMatch(actual: string, expected: RegExp, message?: string): void;
export function assertNotMatch(actual: string, expected: RegExp, message?: string): void;
export function assertArrayIncludes<T>(actual: readonly T[], expected: readonly T[]): void;
export function assertObjectMatch(
  actual: Record<PropertyKey, unknown>,
  expected: Record<PropertyKey, unknown>,
  message?: string,
): void;
export function assertStringIncludes(actual: string, expected: string, message?: string): void;
export function assertInstanceOf<E>(
  actual: unknown,
  // deno-lint-ignore no-explicit-any
  expected: abstract new (...args: any[]) => E,
  message?: string,
): asserts actual is E;
export function assertThrows(fn: () => unknown): unknown;
export function assertThrows<E extends Error>(
  fn: () => unknown,
  errorClass: ErrorClass<E>,
  messageIncludes?: string,
): E;
export function assertRejects(fn: () => PromiseLike<unknown>): Promise<unknown>;
export function assertRejects<E extends Error>(
  fn: () => PromiseLike<unknown>,
  errorClass: ErrorClass<E>,
  messageIncludes?: string,
): Promise<E>;
export function fail(message?: string): never;
