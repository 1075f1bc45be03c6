/** Text in columns and boxes; characters count as one column each. */

/** Rows as lines, every column as wide as its widest cell. */
export function columns(rows: readonly (readonly string[])[], gap = 2): string[] {
  const widths = rows.reduce<number[]>((widest, row) => {
    return row.map((cell, index) => Math.max(widest[index] ?? 0, cell.length));
  }, []);
  return rows.map((row) =>
    row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(" ".repeat(gap)).trimEnd()
  );
}

/** Lines in a frame. */
export function box(lines: readonly string[]): string[] {
  const width = Math.max(...lines.map((line) => line.length));
  const bar = "─".repeat(width + 2);
  return [`┌${bar}┐`, ...lines.map((line) => `│ ${line.padEnd(width)} │`), `└${bar}┘`];
}
