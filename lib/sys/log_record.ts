/** What a log line says, before it is text. */

/** From least to most important. */
export const LEVELS = ["DEBUG", "INFO", "WARN", "ERROR", "FATAL"] as const;

/**
 * How important a line is.
 *
 * `DEBUG`: for the developer. `INFO`: a change of state. `WARN`: works, but someone should
 * look. `ERROR`: something failed. `FATAL`: the program ends because of it; the log itself
 * ends nothing.
 */
export type Level = typeof LEVELS[number];

/** Facts beside the message. Values of any type; `undefined` is left out. */
export type Fields = Readonly<Record<string, unknown>>;

/** One line. */
export interface LogRecord {
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly level: Level;
  readonly message: string;
  readonly fields: Fields;
}
