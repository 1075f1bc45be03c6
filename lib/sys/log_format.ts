/** Log records as lines: logfmt for people, JSON for machines. */

import { HeadcniError } from "./errors.ts";
import type { LogRecord } from "./log_record.ts";
import { escapeActive, type Plain, plainValue } from "./log_value.ts";

/** Names every line has; a field of that name gets a `_` after it. */
const RESERVED: ReadonlySet<string> = new Set(["time", "level", "msg"]);

/**
 * `time=… level=INFO msg="…" key=value`: one line whatever the values contain, so that a
 * pod's name can neither forge a line nor reach the terminal as an escape sequence.
 */
export function formatText(record: LogRecord): string {
  const { time, level, message } = record;
  let line = `time=${timestamp(time)} level=${level} msg=${quote(message)}`;
  for (const [key, value] of plainFields(record)) {
    line += ` ${key.replace(/[^\w.-]/g, "_")}=${textValue(value)}`;
  }
  return `${line}\n`;
}

/** One JSON object per line: `{"time":…,"level":…,"msg":…,…}`. */
export function formatJson(record: LogRecord): string {
  const { time, level, message } = record;
  const line = { time: timestamp(time), level, msg: message };
  const fields = Object.fromEntries(plainFields(record));
  return `${escapeActive(JSON.stringify({ ...line, ...fields }))}\n`;
}

function timestamp(time: number): string {
  return new Date(time).toISOString();
}

function plainFields(record: LogRecord): [string, Plain][] {
  const fields: [string, Plain][] = [];
  for (const [name, value] of Object.entries(record.fields)) {
    if (value === undefined) continue;
    const key = RESERVED.has(name) ? `${name}_` : name;
    fields.push([key, plainValue(value)]);
    if (value instanceof HeadcniError) {
      if (value.remedy !== undefined) fields.push([`${key}_remedy`, plainValue(value.remedy)]);
    } else if (value instanceof Error && (record.level === "ERROR" || record.level === "FATAL")) {
      // Not one of ours: perhaps a bug, and then the place is the first question.
      fields.push([`${key}_stack`, plainValue(value.stack)]);
    }
  }
  return fields;
}

function textValue(value: Plain): string {
  if (typeof value === "string") return bareOrQuoted(value);
  if (Array.isArray(value) && value.every(isListable)) return bareOrQuoted(value.join(","));
  return typeof value === "object" && value !== null ? quote(JSON.stringify(value)) : String(value);
}

/** `10.0.0.1,fd00::1` is easier on the eye than quoted JSON, as long as it is unambiguous. */
function isListable(value: Plain): boolean {
  return typeof value === "number" ||
    typeof value === "string" && value !== "" && !value.includes(",");
}

function bareOrQuoted(text: string): string {
  return /^[\w.:/@+,%*[\]()-]+$/.test(text) ? text : quote(text);
}

function quote(text: string): string {
  return escapeActive(JSON.stringify(text));
}
