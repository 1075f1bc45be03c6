/**
 * Reading a file that another program appends to.
 *
 * By looking at it again and again: inotify would wake us for every line, and a second's
 * delay of a log is nobody's loss. When the file has grown too large it is cut to nothing in
 * place; the writer has it open for appending, so its next line is the first again. What it
 * writes between our last look and the cut is lost.
 */

import { type Clock, systemClock } from "./clock.ts";

/** Options for {@linkcode FileFollower}. */
export interface FollowOptions {
  readonly onLine: (line: string) => void;
  /** The file is emptied when it is larger. @default {4_194_304} */
  readonly maxBytes?: number;
}

/** Options for {@linkcode FileFollower.follow}. */
export interface FollowUntil {
  /** Ends it. */
  readonly signal: AbortSignal;
  /** Time between two looks. @default {500} */
  readonly intervalMs?: number;
  readonly clock?: Pick<Clock, "sleep">;
}

/** Bytes taken at a look: more than that, written since the last one, is skipped. */
const MAX_LOOK_BYTES = 262_144;
const MAX_LINE_CHARACTERS = 4096;

/**
 * Calls `onLine` for every line that is appended to a file from now on. A file that is
 * missing, or cannot be read for the moment, is looked for again.
 */
export class FileFollower {
  readonly #path: string;
  readonly #options: FollowOptions;
  #offset: number;
  #rest = "";
  #decoder = new TextDecoder();

  constructor(path: string, options: FollowOptions) {
    this.#path = path;
    this.#options = options;
    this.#offset = sizeOf(path);
  }

  /** Looks again and again until the signal, then once more. */
  async follow(options: FollowUntil): Promise<void> {
    const { signal, intervalMs = 500, clock = systemClock } = options;
    while (!signal.aborted) {
      this.look();
      await clock.sleep(intervalMs, { signal }).catch(() => {});
    }
    this.look();
  }

  /** Hands out the lines that are complete by now. */
  look(): void {
    const { maxBytes = 4_194_304, onLine } = this.#options;
    let lines: string[] = [];
    try {
      using file = Deno.openSync(this.#path, { read: true });
      const { size } = file.statSync();
      // It was emptied, by us or by somebody else.
      if (size < this.#offset) this.#offset = 0;
      const text = this.#read(file, size);
      lines = (this.#rest + text).split("\n");
      this.#rest = (lines.pop() ?? "").slice(0, MAX_LINE_CHARACTERS);
      if (size > maxBytes) Deno.truncateSync(this.#path, 0);
    } catch {
      // Not there yet, or no longer: the next look will tell.
    }
    for (const line of lines) if (line !== "") onLine(line.slice(0, MAX_LINE_CHARACTERS));
  }

  #read(file: Deno.FsFile, size: number): string {
    const skipped = size - this.#offset > MAX_LOOK_BYTES;
    if (skipped) this.#offset = size - MAX_LOOK_BYTES;
    const bytes = new Uint8Array(size - this.#offset);
    file.seekSync(this.#offset, Deno.SeekMode.Start);
    const count = file.readSync(bytes) ?? 0;
    this.#offset += count;
    const text = this.#decoder.decode(bytes.subarray(0, count), { stream: true });
    if (!skipped) return text;
    this.#rest = "";
    // The first line was cut somewhere in the middle.
    return `… (more was written than could be read)\n${text.slice(text.indexOf("\n") + 1)}`;
  }
}

function sizeOf(path: string): number {
  try {
    return Deno.statSync(path).size;
  } catch {
    return 0;
  }
}
