/** Colour for terminals, and none for anything else. */

/** Marks text by meaning; the plain one returns it as it is. */
export interface Paint {
  heading(text: string): string;
  command(text: string): string;
  faint(text: string): string;
  error(text: string): string;
}

/** "Select Graphic Rendition" sequences of ECMA-48. */
function sgr(code: number): (text: string) => string {
  return (text) => `\x1b[${code}m${text}\x1b[0m`;
}

const plain = (text: string): string => text;

/** A {@linkcode Paint} that paints nothing. */
export const PLAIN: Paint = { heading: plain, command: plain, faint: plain, error: plain };

const COLOURED: Paint = { heading: sgr(1), command: sgr(36), faint: sgr(2), error: sgr(31) };

/** How the wish for colour was expressed: `--color`, `NO_COLOR`, and what is written to. */
export interface ColourWish {
  readonly when: string;
  readonly noColor: boolean;
  readonly isTerminal: boolean;
}

/** The paint to use; `NO_COLOR` (https://no-color.org) is stronger than any flag. */
export function choosePaint(wish: ColourWish): Paint {
  if (wish.noColor || wish.when === "never") return PLAIN;
  return wish.when === "always" || wish.isTerminal ? COLOURED : PLAIN;
}
