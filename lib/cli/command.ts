/** What a command is, as data: enough to parse it, explain it and complete it. */

import { type Paint } from "./paint.ts";

/** An option such as `--json`, or `--color WHEN` when it has a `value`. */
export interface Flag {
  readonly name: string;
  readonly short?: string;
  readonly summary: string;
  readonly value?: FlagValue;
}

/** The value a flag takes. */
export interface FlagValue {
  /** As help shows it: `WHEN`. */
  readonly placeholder: string;
  /** The only values there are, when they can be listed. */
  readonly choices?: readonly string[];
}

/** An argument known by its place. */
export interface Positional {
  /** As help shows it: `SHELL`. */
  readonly name: string;
  readonly summary: string;
  readonly choices?: readonly string[];
  readonly optional?: boolean;
}

/** A command to try, and what it is for. */
export interface Example {
  readonly command: string;
  readonly does: string;
}

/** An exit code of its own, beside those every command has. */
export interface ExitMeaning {
  readonly code: number;
  readonly meaning: string;
}

/** A command, or a group of commands when it has `commands`. */
export interface Command {
  readonly name: string;
  /** One line, for the list of commands. */
  readonly summary: string;
  /** Paragraphs for its own help. */
  readonly description?: string;
  readonly flags?: readonly Flag[];
  readonly positionals?: readonly Positional[];
  readonly examples?: readonly Example[];
  readonly commands?: readonly Command[];
  readonly exitCodes?: readonly ExitMeaning[];
  /** Loads what carries it out; absent for a group. */
  readonly load?: () => Promise<{ run: Run }>;
}

/** What was typed, checked against the command's table. */
export interface Invocation {
  /** Whether a flag without value was given. */
  has(flag: string): boolean;
  /** The value of a flag, `undefined` when it was not given. */
  value(flag: string): string | undefined;
  readonly positionals: readonly string[];
}

/** Where a command writes: results to `stdout`, everything else to `stderr`. */
export interface Output {
  readonly stdout: { write(text: string): void };
  readonly stderr: { write(text: string): void };
  /** Colours for standard output; plain text where they are not wanted. */
  readonly paint: Paint;
  /** The value of an environment variable. */
  env(name: string): string | undefined;
}

/** Carries out a command and returns the exit code. */
export type Run = (invocation: Invocation, output: Output) => number | Promise<number>;

/** Flags every command understands. */
export const GLOBAL_FLAGS: readonly Flag[] = [
  { name: "help", short: "h", summary: "Explain the command and exit" },
  {
    name: "color",
    summary: "When to colour: auto (on a terminal), always, never; NO_COLOR always wins",
    value: { placeholder: "WHEN", choices: ["auto", "always", "never"] },
  },
];

/** All flags of `command`, its own first. */
export function flagsOf(command: Command): readonly Flag[] {
  return [...command.flags ?? [], ...GLOBAL_FLAGS];
}
