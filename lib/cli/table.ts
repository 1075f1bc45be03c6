/** Tables for people: columns as wide as they need to be. */

import { type Paint } from "./paint.ts";

/**
 * `rows` below `headings`, as text with a final newline.
 *
 * @example
 * ```ts
 * import { PLAIN } from "./paint.ts";
 * import { table } from "./table.ts";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(table(["A", "B"], [["10.0.0.1", "x"]], PLAIN), "A         B\n10.0.0.1  x\n");
 * ```
 */
export function table(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  paint: Paint,
): string {
  const widths = headings.map((heading, column) =>
    rows.reduce((width, row) => Math.max(width, (row[column] ?? "").length), heading.length)
  );
  const line = (cells: readonly string[]) =>
    cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ").trimEnd();
  return [paint.heading(line(headings)), ...rows.map(line)].join("\n") + "\n";
}
