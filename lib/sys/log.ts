/**
 * The program's own account of what it does, as lines for people or for machines.
 *
 * A log is passed in, never reached for. stdout belongs to the CNI protocol and to command
 * output, so lines go to stderr or to a file (`log_sink.ts`). Library code logs what it
 * swallows and nothing else; what it throws, its caller tells.
 */

import { describeError, HeadcniError } from "./errors.ts";
import { formatJson, formatText } from "./log_format.ts";
import { type Fields, type Level, LEVELS, type LogRecord } from "./log_record.ts";
import type { LogSink } from "./log_sink.ts";

/** Writes one line of one level. Fields given as a function are made only if it is written. */
export type LogMethod = (message: string, fields?: Fields | (() => Fields)) => void;

/** A log. Its methods need no `this` and never throw. */
export interface Log {
  readonly debug: LogMethod;
  readonly info: LogMethod;
  readonly warn: LogMethod;
  readonly error: LogMethod;
  readonly fatal: LogMethod;
  /** The same log with `fields` on every line. */
  with(fields: Fields): Log;
}

/** `key=value` for people, or one JSON object per line. */
export type LogFormat = "text" | "json";

/** Options for {@linkcode createLog}. */
export interface LogOptions {
  /** Where lines go. */
  readonly sink: LogSink;
  /** The least important level to write. @default {"INFO"} */
  readonly level?: Level;
  /** @default {"text"} */
  readonly format?: LogFormat;
  /** Time of a line, in milliseconds since 1970. @default {Date.now} */
  readonly now?: () => number;
}

/**
 * A log that writes to `options.sink`.
 *
 * @example
 * ```ts
 * import { createLog } from "./log.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const lines: string[] = [];
 * const log = createLog({ sink: { write: (line) => lines.push(line) }, now: () => 0 });
 * log.with({ pod: "web-0" }).info("address assigned", { ip: "10.244.3.7" });
 * assertEquals(lines, [
 *   'time=1970-01-01T00:00:00.000Z level=INFO msg="address assigned" pod=web-0 ip=10.244.3.7\n',
 * ]);
 * ```
 */
export function createLog(options: LogOptions): Log {
  const { sink, level = "INFO", format = "text", now = Date.now } = options;
  const formatRecord = format === "json" ? formatJson : formatText;
  return logTo((record) => sink.write(formatRecord(record)), { level, now });
}

/** Options for {@linkcode logTo}. */
export interface LogToOptions {
  readonly level: Level;
  readonly now: () => number;
}

/** A log that hands each record to `emit`. */
export function logTo(emit: (record: LogRecord) => void, options: LogToOptions): Log {
  const { level: least, now } = options;
  const method = (level: Level, bound: Fields): LogMethod => {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(least)) return ignore;
    return (message, fields = {}) =>
      emit({ time: now(), level, message, fields: merge(bound, fields) });
  };
  const bind = (bound: Fields): Log => ({
    debug: method("DEBUG", bound),
    info: method("INFO", bound),
    warn: method("WARN", bound),
    error: method("ERROR", bound),
    fatal: method("FATAL", bound),
    with: (fields) => bind({ ...bound, ...fields }),
  });
  return bind({});
}

/** A log that keeps nothing. */
export const discardLog: Log = {
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
  fatal: ignore,
  with: () => discardLog,
};

/** A level or format that is not one. */
export class LogOptionError extends HeadcniError {
  override readonly name = "LogOptionError";
}

/**
 * The level named `text`, in any case.
 *
 * @throws {LogOptionError} listing the choices.
 */
export function parseLevel(text: string): Level {
  const level = LEVELS.find((level) => level === text.toUpperCase());
  if (level === undefined) throw notAChoice("parse log level", text, LEVELS);
  return level;
}

/**
 * The format named `text`.
 *
 * @throws {LogOptionError} listing the choices.
 */
export function parseLogFormat(text: string): LogFormat {
  if (text === "text" || text === "json") return text;
  throw notAChoice("parse log format", text, ["text", "json"]);
}

function notAChoice(operation: string, text: string, choices: readonly string[]): LogOptionError {
  return new LogOptionError({
    operation,
    subject: JSON.stringify(text),
    reason: `choose one of ${choices.join(", ")}`,
  });
}

function ignore(): void {}

function merge(bound: Fields, fields: Fields | (() => Fields)): Fields {
  try {
    return { ...bound, ...(typeof fields === "function" ? fields() : fields) };
  } catch (error) {
    // What a line would have said must not decide whether the work goes on.
    return { ...bound, fields_error: describeError(error) };
  }
}
