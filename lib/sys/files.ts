/**
 * Small files, read and written whole.
 *
 * Synchronous only, on purpose. The CNI plugin is a short-lived process with nothing else to
 * do meanwhile; the daemon touches a few files of some kilobytes, where a read costs less
 * than the turn of the event loop an `await` would take. In return there is one
 * implementation, and between a read and the write that depends on it nothing can slip in.
 */

import { writeFileAtomic, type WriteFileOptions } from "./atomic_write.ts";
import { FileError, fileError } from "./file_error.ts";

/** What a path names. */
export type FileKind = "file" | "directory" | "symlink" | "other";

/** What is known about a file without reading it. */
export interface FileStat {
  readonly kind: FileKind;
  readonly size: number;
  /** Permission bits only, such as `0o644`. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Time of the last change of content, in milliseconds since 1970. */
  readonly modifiedMs: number;
}

/** One name in a directory. */
export interface DirectoryEntry {
  readonly name: string;
  readonly kind: FileKind;
}

/** The file system as the program uses it. Every method throws `FileError`. */
export interface Files {
  /** The whole content, as UTF-8. */
  readText(path: string): string;
  readBytes(path: string): Uint8Array;
  /** Follows symbolic links; `undefined` if nothing is there. */
  stat(path: string): FileStat | undefined;
  /** The entries of a directory, sorted by name. Links are not followed. */
  list(path: string): DirectoryEntry[];
  /** Replaces the file in one step and makes it durable; see `atomic_write.ts`. */
  writeAtomic(path: string, data: string | Uint8Array, options?: WriteFileOptions): void;
  rename(from: string, to: string): void;
  /** Removes a file, link or empty directory. Returns whether there was one. */
  remove(path: string): boolean;
  /** Creates a directory and its parents; one that exists is left as it is. */
  makeDirectory(path: string, options?: { readonly mode?: number }): void;
}

/** The real file system. */
export const denoFiles: Files = {
  readText: (path) => attempt("read file", path, () => Deno.readTextFileSync(path)),
  readBytes: (path) => attempt("read file", path, () => Deno.readFileSync(path)),
  stat: (path) =>
    attemptIfPresent("inspect file", path, () => {
      const info = Deno.statSync(path);
      return {
        kind: kindOf(info),
        size: info.size,
        mode: (info.mode ?? 0) & 0o7777,
        uid: info.uid ?? 0,
        gid: info.gid ?? 0,
        modifiedMs: info.mtime?.getTime() ?? 0,
      };
    }),
  list: (path) =>
    attempt("list directory", path, () =>
      [...Deno.readDirSync(path)]
        .map((entry) => ({ name: entry.name, kind: kindOf(entry) }))
        .sort((a, b) => a.name < b.name ? -1 : 1)),
  writeAtomic: writeFileAtomic,
  rename: (from, to) => attempt("rename file", `${from} to ${to}`, () => Deno.renameSync(from, to)),
  remove: (path) =>
    attemptIfPresent("remove file", path, () => {
      Deno.removeSync(path);
      return true;
    }) ?? false,
  makeDirectory: (path, { mode = 0o755 } = {}) =>
    attempt("create directory", path, () => Deno.mkdirSync(path, { recursive: true, mode })),
};

/**
 * The text of `path`, or `undefined` if there is no such file; other failures are thrown.
 *
 * Not `stat` and then `readText`: the file may go away between the two.
 */
export function readTextIfPresent(
  files: Pick<Files, "readText">,
  path: string,
): string | undefined {
  try {
    return files.readText(path);
  } catch (error) {
    if (error instanceof FileError && error.code === "NotFound") return undefined;
    throw error;
  }
}

function attempt<T>(operation: string, path: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw fileError(operation, path, error);
  }
}

function attemptIfPresent<T>(operation: string, path: string, action: () => T): T | undefined {
  try {
    return attempt(operation, path, action);
  } catch (error) {
    if (error instanceof FileError && error.code === "NotFound") return undefined;
    throw error;
  }
}

function kindOf(entry: Pick<Deno.FileInfo, "isFile" | "isDirectory" | "isSymlink">): FileKind {
  if (entry.isFile) return "file";
  if (entry.isDirectory) return "directory";
  return entry.isSymlink ? "symlink" : "other";
}
