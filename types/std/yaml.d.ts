/** The part of `@std/yaml` this project uses. */

export function parse(text: string): unknown;
export function stringify(value: unknown): string;
