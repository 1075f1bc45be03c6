/**
 * Where log lines go. A sink never throws: an `ADD` must not fail because a log cannot be
 * written. Synchronous, so that the last line of a process is not lost.
 */

import { openToAppend } from "./private_path.ts";

/** Takes finished lines, each with its newline. */
export interface LogSink {
  write(line: string): void;
}

/** The one method of a stream or file that is needed. */
export type ByteWriter = Pick<Deno.FsFile, "writeSync">;

/**
 * Writes whole lines to `stream`. What cannot be written is dropped: the reader has closed
 * the pipe (EPIPE), or does not keep up with a non-blocking one (EAGAIN).
 */
export function stderrSink(stream: ByteWriter = Deno.stderr): LogSink {
  const lines = new LineWriter();
  return {
    write(line) {
      try {
        lines.write(stream, new TextEncoder().encode(line));
      } catch {
        // There is no other place to tell it.
      }
    },
  };
}

/** Options for {@linkcode openLogFile}. */
export interface LogFileOptions {
  /**
   * The file is renamed to `<path>.1`, replacing the one before, when a line would make it
   * larger than this. Both together take at most twice as much.
   *
   * @default {10_485_760}
   */
  readonly maxBytes?: number;
  /** Permission bits of a new file. @default {0o600} */
  readonly mode?: number;
  /** Gets the lines the file cannot take: a full disk, a missing directory. @default stderr */
  readonly fallback?: LogSink;
  /** Told why the file takes no lines, once. */
  readonly onFailure?: (error: Error) => void;
}

/** A log file; closes when it leaves its scope. */
export interface LogFile extends LogSink, Disposable {}

/**
 * Appends lines to the file `path`, which is created with the first one.
 *
 * Several processes may share it, as many `ADD`s at a time do: each line is one append, and
 * before a rename the file is looked at again. If two get past that look at the same
 * moment, the older of two full files is lost; no lock, on which an `ADD` would wait, is
 * worth that.
 */
export function openLogFile(path: string, options: LogFileOptions = {}): LogFile {
  const { maxBytes = 10_485_760, mode = 0o600, fallback = stderrSink() } = options;
  const lines = new LineWriter();
  let file: Deno.FsFile | undefined;
  let { onFailure } = options;

  // Links are not followed: whoever may write beside the log must not choose where root writes.
  function open(): Deno.FsFile {
    return openToAppend(path, mode);
  }

  function close(): void {
    file?.close();
    file = undefined;
  }

  function rotateIfFull(full: Deno.FsFile, lineBytes: number): void {
    const ours = full.statSync();
    if (ours.size === 0 || ours.size + lineBytes <= maxBytes) return;
    close();
    // Another process may have renamed it meanwhile; then `path` is its fresh file.
    if (inodeOf(path) === ours.ino) Deno.renameSync(path, `${path}.1`);
  }

  return {
    write(line) {
      try {
        const bytes = new TextEncoder().encode(line);
        rotateIfFull(file ??= open(), bytes.length);
        lines.write(file ??= open(), bytes);
      } catch (error) {
        close();
        if (error instanceof Error) onFailure?.(error);
        onFailure = undefined;
        fallback.write(line);
      }
    },
    [Symbol.dispose]: close,
  };
}

function inodeOf(path: string): number | null {
  try {
    return Deno.statSync(path).ino;
  } catch {
    return null;
  }
}

/** Remembers a line that was cut off, so that the next one starts on its own. */
class LineWriter {
  #torn = false;

  write(stream: ByteWriter, line: Uint8Array): void {
    if (this.#torn) stream.writeSync(NEWLINE);
    for (let written = 0; written < line.length;) {
      written += stream.writeSync(line.subarray(written));
      this.#torn = written < line.length;
    }
  }
}

const NEWLINE = new Uint8Array([0x0a]);
