/**
 * Puts members and elements into HuJSON text. Only ever inserts: every character that was there
 * stays, and with it comments, order and layout.
 */

import type { HujsonList, HujsonObject, HujsonValue } from "./hujson.ts";

/** Text to put in at a place of the original. */
export interface Insertion {
  readonly at: number;
  readonly text: string;
}

/** `text` with all `insertions`; of those at the same place the first comes first. */
export function applyInsertions(text: string, insertions: readonly Insertion[]): string {
  const ordered = [...insertions].sort((a, b) => a.at - b.at);
  let [result, from] = ["", 0];
  for (const { at, text: inserted } of ordered) {
    result += text.slice(from, at) + inserted;
    from = at;
  }
  return result + text.slice(from);
}

/** Puts `pieces`, JSON texts or `"key": value` texts, at the end of `container`. */
export function appendTo(
  text: string,
  container: HujsonList | HujsonObject,
  pieces: readonly string[],
): Insertion[] {
  if (pieces.length === 0) return [];
  const last = lastValue(container);
  const multiLine = text.slice(container.start, container.end).includes("\n");
  if (!multiLine && last !== undefined) return appendInLine(container, last, pieces);
  const closing = indentOf(text, container.end - 1);
  const indent = last === undefined ? `${closing}  ` : indentOf(text, last.start);
  const separated = pieces.map((piece) => `\n${indent}${piece}`).join(",");
  const comma = last === undefined || container.trailingComma ? [] : [{ at: last.end, text: "," }];
  // The white space before the bracket stays; a bracket on the same line needs a new one.
  const beforeBracket = text.slice(container.contentEnd, container.end - 1);
  const tail = beforeBracket.includes("\n") ? "" : `\n${closing}`;
  const end = `${separated}${container.trailingComma ? "," : ""}${tail}`;
  return [...comma, { at: container.contentEnd, text: end }];
}

/** `["a"]` and the like stay on their line. */
function appendInLine(
  container: HujsonList | HujsonObject,
  last: HujsonValue,
  pieces: readonly string[],
): Insertion[] {
  const joined = pieces.join(", ");
  return container.trailingComma
    ? [{ at: container.contentEnd, text: ` ${joined},` }]
    : [{ at: last.end, text: `, ${joined}` }];
}

function lastValue(container: HujsonList | HujsonObject): HujsonValue | undefined {
  return container.kind === "list" ? container.elements.at(-1) : container.members.at(-1)?.value;
}

/** The white space at the start of the line that has the character `at`. */
function indentOf(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf("\n", at - 1) + 1);
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}
