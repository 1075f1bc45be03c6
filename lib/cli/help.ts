/** Help texts, made from the command table. */

import { SUPPORTED_VERSIONS } from "../cni/version.ts";
import { type Command, type Flag, flagsOf, type Positional } from "./command.ts";
import { EXIT_CODES } from "./exit_code.ts";
import { type Paint } from "./paint.ts";

/** The help of the last command of `path`. */
export function helpText(path: readonly Command[], paint: Paint): string {
  const command = path.at(-1);
  if (command === undefined) return "";
  const sections = [
    command.description ?? `${command.summary}.`,
    section("Usage", usageLines(path), paint),
    section("Commands", rows(commandRows(command), paint), paint),
    section("Arguments", rows((command.positionals ?? []).map(positionalRow), paint), paint),
    section("Flags", rows(flagsOf(command).map(flagRow), paint), paint),
    section("Examples", exampleLines(command, paint), paint),
    section(
      "Exit codes",
      rows(exitRows(command), paint),
      paint,
    ),
  ];
  if (path.length === 1) {
    sections.push(section("CNI protocol versions", [SUPPORTED_VERSIONS.join(", ")], paint));
  }
  return sections.filter((text) => text !== "").join("\n\n") + "\n";
}

/** One line that sends a lost reader to the help of the command. */
export function helpHint(path: readonly Command[]): string {
  return `See: ${path.map((command) => command.name).join(" ")} --help`;
}

type Row = readonly [left: string, right: string];

function section(title: string, lines: readonly string[], paint: Paint): string {
  if (lines.length === 0) return "";
  return [paint.heading(`${title}:`), ...lines.map((line) => line && `  ${line}`)].join("\n");
}

function rows(cells: readonly Row[], paint: Paint): string[] {
  const width = Math.max(0, ...cells.map(([left]) => left.length));
  return cells.map(([left, right]) => `${paint.command(left.padEnd(width))}  ${right}`);
}

function usageLines(path: readonly Command[]): string[] {
  const command = path.at(-1);
  const words = path.map((one) => one.name);
  if (command?.commands !== undefined) words.push("COMMAND");
  words.push(
    ...(command?.positionals ?? []).map(({ name, optional }) => optional ? `[${name}]` : name),
  );
  const usage = [`${words.join(" ")} [flags]`];
  if (path.length === 1) {
    usage.push("CNI_COMMAND=VERB headcni    (as a container runtime calls it)");
  }
  return usage;
}

function commandRows(command: Command): Row[] {
  return (command.commands ?? []).map(({ name, summary }) => [name, summary]);
}

function exitRows({ exitCodes = [] }: Command): Row[] {
  return [...EXIT_CODES, ...exitCodes].map(({ code, meaning }) => [`${code}`, meaning]);
}

function positionalRow({ name, summary, choices }: Positional): Row {
  return [name, choices === undefined ? summary : `${summary}: ${choices.join(", ")}`];
}

function flagRow({ name, short, summary, value }: Flag): Row {
  const long = value === undefined ? `--${name}` : `--${name} ${value.placeholder}`;
  return [short === undefined ? `    ${long}` : `-${short}, ${long}`, summary];
}

function exampleLines({ examples = [] }: Command, paint: Paint): string[] {
  return examples.flatMap(({ command, does }, index) => [
    ...(index === 0 ? [] : [""]),
    paint.faint(`# ${does}`),
    command,
  ]);
}
