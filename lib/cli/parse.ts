/** From typed words to a command and its checked flags. */

import { parseArgs } from "@std/cli/parse-args";
import { type Command, type Flag, flagsOf, type Invocation } from "./command.ts";
import { nearest, UsageError } from "./usage_error.ts";

/** A command found in the table, with what was typed for it. */
export interface Parsed {
  /** From the program's name to the command. */
  readonly path: readonly Command[];
  readonly command: Command;
  readonly invocation: Invocation;
  /** What is wrong with the words; kept, not thrown, so that `--help` can come first. */
  readonly problem: UsageError | undefined;
}

/** Finds the command that `args` names below `root` and checks the rest against its table. */
export function parseCommandLine(root: Command, args: readonly string[]): Parsed {
  const path: Command[] = [root];
  const found: Found = { flags: new Map(), problem: undefined };
  // What follows `--` is nobody's flag; every level would otherwise look at it again.
  const end = args.includes("--") ? args.indexOf("--") : args.length;
  let command = root;
  let rest = readFlags(command, args.slice(0, end), found);
  while (command.commands !== undefined && rest[0] !== undefined) {
    const next = command.commands.find((candidate) => candidate.name === rest[0]);
    if (next === undefined) {
      found.problem ??= unknownCommand(command, rest[0]);
      break;
    }
    path.push(next);
    command = next;
    rest = readFlags(command, rest.slice(1), found);
  }
  rest.push(...args.slice(end + 1));
  if (command.commands === undefined) found.problem ??= checkPositionals(command, rest);
  const invocation: Invocation = {
    has: (flag) => found.flags.get(flag) === true,
    value: (flag) => {
      const value = found.flags.get(flag);
      return typeof value === "string" ? value : undefined;
    },
    positionals: rest,
  };
  return { path, command, invocation, problem: found.problem };
}

interface Found {
  readonly flags: Map<string, string | boolean>;
  problem: UsageError | undefined;
}

/** Reads the flags of `command` into `found` and returns the words that are no flags. */
function readFlags(command: Command, args: readonly string[], found: Found): string[] {
  const flags = flagsOf(command);
  const takesValue = (flag: Flag) => flag.value !== undefined;
  const words = parseArgs(args, {
    boolean: flags.filter((flag) => !takesValue(flag)).map((flag) => flag.name),
    // Naming `_` keeps words that look like numbers as they were typed.
    string: ["_", ...flags.filter(takesValue).map((flag) => flag.name)],
    alias: Object.fromEntries(flags.flatMap((flag) => flag.short ? [[flag.name, flag.short]] : [])),
    // A group's own flags end at the name of the command below it.
    stopEarly: command.commands !== undefined,
    unknown: (word, key) => {
      if (key === undefined) return true;
      found.problem ??= unknownFlag(flags, word);
      return false;
    },
  });
  for (const flag of flags) {
    if (!Object.hasOwn(words, flag.name) || !isTyped(flag, args)) continue;
    const value = words[flag.name];
    found.problem ??= checkValue(flag, value);
    found.flags.set(flag.name, typeof value === "string" ? value : value === true);
  }
  return words._.map(String);
}

/** parseArgs presets every boolean to false; only what was typed counts. */
function isTyped(flag: Flag, args: readonly string[]): boolean {
  return args.some((arg) =>
    arg === `--${flag.name}` || arg.startsWith(`--${flag.name}=`) ||
    (flag.short !== undefined && new RegExp(`^-[a-zA-Z]*${flag.short}`).test(arg))
  );
}

function checkValue(flag: Flag, value: unknown): UsageError | undefined {
  if (flag.value === undefined) return undefined;
  const { placeholder, choices } = flag.value;
  if (typeof value !== "string" || value === "") {
    return new UsageError(
      `--${flag.name}`,
      choices === undefined
        ? `it needs a value (${placeholder})`
        : `it needs a value: ${choices.join(", ")}`,
    );
  }
  if (choices === undefined || choices.includes(value)) return undefined;
  return new UsageError(
    `--${flag.name} "${value}"`,
    `choose one of ${choices.join(", ")}`,
    nearest(value, choices),
  );
}

function checkPositionals(command: Command, words: readonly string[]): UsageError | undefined {
  const positionals = command.positionals ?? [];
  const extra = words[positionals.length];
  if (extra !== undefined) {
    return new UsageError(
      `argument "${extra}"`,
      positionals.length === 0
        ? `${command.name} takes no argument`
        : `${command.name} takes only ${positionals.map((one) => one.name).join(" ")}`,
    );
  }
  for (const [index, { name, choices, optional }] of positionals.entries()) {
    const word = words[index];
    if (word === undefined && !optional) {
      const listed = choices === undefined ? "" : `: ${choices.join(", ")}`;
      return new UsageError(command.name, `${name} is missing${listed}`);
    }
    if (word !== undefined && choices !== undefined && !choices.includes(word)) {
      return new UsageError(
        `${name} "${word}"`,
        `choose one of ${choices.join(", ")}`,
        nearest(word, choices),
      );
    }
  }
  return undefined;
}

function unknownCommand(group: Command, word: string): UsageError {
  const names = (group.commands ?? []).map((command) => command.name);
  return new UsageError(
    `command "${word}"`,
    `${group.name} has no such command`,
    nearest(word, names),
  );
}

function unknownFlag(flags: readonly Flag[], word: string): UsageError {
  const name = word.replace(/=.*$/s, "");
  return new UsageError(
    `flag ${name}`,
    "there is no such flag",
    nearest(name, flags.map((flag) => `--${flag.name}`)),
  );
}
