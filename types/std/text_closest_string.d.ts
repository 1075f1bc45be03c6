/** The part of `@std/text/closest-string` this project uses. */

export function closestString(givenWord: string, possibleWords: readonly string[]): string;
