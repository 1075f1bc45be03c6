/**
 * What can be typed where, in the form all completion scripts need.
 *
 * A place is a command path; at it a person may type one of its words (commands or
 * positional choices), one of its flags, or the value of the flag just typed.
 */

import { type Command, flagsOf } from "../command.ts";

/** Something to offer, and the line that explains it. */
export interface Offer {
  readonly word: string;
  readonly summary: string;
}

/** A flag to offer; `choices` is given when it takes a value, and may be empty. */
export interface FlagOffer extends Offer {
  readonly short?: string;
  readonly choices?: readonly string[];
}

/** What can follow a command path. */
export interface Place {
  /** The commands typed so far, without the program's name: `""`, `"version"`. */
  readonly path: string;
  readonly words: readonly Offer[];
  readonly flags: readonly FlagOffer[];
}

/** All places below `root`, outermost first. */
export function places(root: Command): Place[] {
  const top = (root.commands ?? []).map(({ name, summary }) => ({ word: name, summary }));
  const walk = (command: Command, path: readonly string[]): Place[] => [
    { path: path.join(" "), words: wordsOf(command, top), flags: flagOffers(command) },
    ...(command.commands ?? []).flatMap((next) => walk(next, [...path, next.name])),
  ];
  return walk(root, []);
}

function wordsOf(command: Command, top: readonly Offer[]): readonly Offer[] {
  if (command.commands !== undefined) {
    return command.commands.map(({ name, summary }) => ({ word: name, summary }));
  }
  const positional = command.positionals?.[0];
  if (positional?.name === "COMMAND") return top;
  return (positional?.choices ?? []).map((word) => ({ word, summary: positional?.summary ?? "" }));
}

function flagOffers(command: Command): FlagOffer[] {
  return flagsOf(command).map(({ name, short, summary, value }) => ({
    word: `--${name}`,
    summary,
    ...(short === undefined ? {} : { short: `-${short}` }),
    ...(value === undefined ? {} : { choices: value.choices ?? [] }),
  }));
}
