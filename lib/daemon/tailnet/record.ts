/**
 * What this program has changed on the machine, written down before it is changed: leaving
 * puts it back, also when another process does it, after a crash or a reboot.
 */

import { parsePrefix, type Prefix } from "../../ip/mod.ts";
import { type Files, readTextIfPresent } from "../../sys/files.ts";
import { parseJsonView } from "../../sys/json_view.ts";
import type { PrefsEdit } from "../../tailscale/mod.ts";

/** Settings of tailscaled that host mode changes, as they were before. */
export type OriginalPrefs = Pick<PrefsEdit, "routeAll" | "noSnat" | "noStatefulFiltering">;

/** The record. */
export interface TailnetRecord {
  /** Settings as they were; an absent one was never changed. */
  readonly originalPrefs: OriginalPrefs;
  /** Prefixes this program added to those the node advertises. */
  readonly advertised: readonly Prefix[];
  /** Prefixes this program had approved. */
  readonly approved: readonly Prefix[];
  /**
   * Pod networks of other nodes that were seen. They stay unreachable by the default route while
   * their node is away, and while nobody can be asked.
   */
  readonly learned: readonly Prefix[];
}

/** What is added to, or replaced in, the record. */
export type RecordChange = Partial<TailnetRecord>;

/** A record in which nothing was changed. */
export const EMPTY_RECORD: TailnetRecord = {
  originalPrefs: {},
  advertised: [],
  approved: [],
  learned: [],
};

const VERSION = 1;

/**
 * The record at `path`; an empty one if there is none.
 *
 * @throws {JsonShapeError} if it is not one: better no leaving than a wrong one.
 */
export function readRecord(files: Pick<Files, "readText">, path: string): TailnetRecord {
  const text = readTextIfPresent(files, path);
  if (text === undefined) return EMPTY_RECORD;
  const view = parseJsonView(text, `${path}`);
  const prefs = view.object("originalPrefs");
  const flags = ["routeAll", "noSnat"] as const;
  const stateful = prefs?.optionalFlag("noStatefulFiltering");
  return {
    originalPrefs: {
      ...Object.fromEntries(flags.flatMap((name) => {
        const value = prefs?.optionalFlag(name);
        return value === undefined ? [] : [[name, value]];
      })),
      ...(stateful === undefined ? {} : { noStatefulFiltering: stateful }),
    },
    advertised: view.parsedTexts("advertised", parsePrefix),
    approved: view.parsedTexts("approved", parsePrefix),
    learned: view.parsedTexts("learned", parsePrefix),
  };
}

/** Writes the record, whole and durable, for nobody else to read. */
export function writeRecord(
  files: Pick<Files, "writeAtomic">,
  path: string,
  record: TailnetRecord,
): void {
  const text = JSON.stringify({ version: VERSION, ...record }, null, 2);
  files.writeAtomic(path, `${text}\n`, { mode: 0o600 });
}
