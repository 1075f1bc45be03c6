/** The part of `@std/cli/parse-args` this project uses. */

export interface ParseOptions {
  readonly boolean?: readonly string[];
  readonly string?: readonly string[];
  readonly collect?: readonly string[];
  readonly alias?: Readonly<Record<string, string | readonly string[]>>;
  readonly stopEarly?: boolean;
  readonly "--"?: boolean;
  /** Called for what no option names; returning `false` drops it. */
  readonly unknown?: (arg: string, key?: string, value?: unknown) => unknown;
}

export interface ParsedArgs {
  readonly _: (string | number)[];
  readonly [flag: string]: unknown;
}

export function parseArgs(args: readonly string[], options?: ParseOptions): ParsedArgs;
