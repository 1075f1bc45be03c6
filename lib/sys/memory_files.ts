/** A file system in memory that passes the same suite as the real one. */

import type { WriteFileOptions } from "./atomic_write.ts";
import { FileError, fileError, type FileErrorCode } from "./file_error.ts";
import type { DirectoryEntry, Files, FileStat } from "./files.ts";

interface Node {
  /** `undefined` for a directory. */
  readonly bytes: Uint8Array | undefined;
  readonly mode: number;
}

/** errno names for the failures this file system can have. */
const ERRNO = {
  IsDirectory: "EISDIR",
  NoSpace: "ENOSPC",
  NotDirectory: "ENOTDIR",
  NotEmpty: "ENOTEMPTY",
  NotFound: "ENOENT",
  PermissionDenied: "EACCES",
  ReadOnly: "EROFS",
} satisfies Partial<Record<FileErrorCode, string>>;

/** A failure {@linkcode MemoryFiles.failNext} can plant. */
export type PlantedFailure = keyof typeof ERRNO;

/**
 * Files in memory, by absolute path without `.` and `..`. Has no links, owners or checks of
 * modes; `failNext` plants what a test needs of those.
 */
export class MemoryFiles implements Files {
  readonly #nodes = new Map<string, Node>([["/", { bytes: undefined, mode: 0o755 }]]);
  readonly #planted = new Map<string, PlantedFailure>();

  /** Starts with these files, directories included. */
  constructor(files: Readonly<Record<string, string>> = {}) {
    for (const [path, text] of Object.entries(files)) {
      this.makeDirectory(parentOf(path));
      this.writeAtomic(path, text);
    }
  }

  /** Path → text of every file, for one comparison at the end of a test. */
  snapshot(): Record<string, string> {
    const files: Record<string, string> = {};
    for (const [path, node] of [...this.#nodes].sort()) {
      if (node.bytes !== undefined) files[path] = new TextDecoder().decode(node.bytes);
    }
    return files;
  }

  /** Makes the next operation on `path` fail with `code`. */
  failNext(path: string, code: PlantedFailure): void {
    this.#planted.set(path, code);
  }

  readText(path: string): string {
    return new TextDecoder().decode(this.readBytes(path));
  }

  readBytes(path: string): Uint8Array {
    this.#failIfPlanted("read file", path);
    const node = this.#nodes.get(path);
    if (node === undefined) throw failure("read file", path, "NotFound");
    if (node.bytes === undefined) throw failure("read file", path, "IsDirectory");
    return node.bytes.slice();
  }

  stat(path: string): FileStat | undefined {
    this.#failIfPlanted("inspect file", path);
    const node = this.#nodes.get(path);
    if (node === undefined) return undefined;
    const kind = node.bytes === undefined ? "directory" : "file";
    return { kind, size: node.bytes?.length ?? 0, mode: node.mode, uid: 0, gid: 0, modifiedMs: 0 };
  }

  list(path: string): DirectoryEntry[] {
    this.#failIfPlanted("list directory", path);
    const node = this.#nodes.get(path);
    if (node === undefined) throw failure("list directory", path, "NotFound");
    if (node.bytes !== undefined) throw failure("list directory", path, "NotDirectory");
    return [...this.#nodes]
      .filter(([child]) => child !== "/" && parentOf(child) === path)
      .map(([child, { bytes }]): DirectoryEntry => ({
        name: child.slice(child.lastIndexOf("/") + 1),
        kind: bytes === undefined ? "directory" : "file",
      }))
      .sort((a, b) => a.name < b.name ? -1 : 1);
  }

  writeAtomic(path: string, data: string | Uint8Array, options: WriteFileOptions = {}): void {
    this.#failIfPlanted("write file", path);
    this.#requireParent("write file", path);
    if (this.#isDirectory(path)) throw failure("write file", path, "IsDirectory");
    const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data.slice();
    this.#nodes.set(path, { bytes, mode: options.mode ?? 0o644 });
  }

  rename(from: string, to: string): void {
    this.#failIfPlanted("rename file", from);
    const node = this.#nodes.get(from);
    if (node === undefined) throw failure("rename file", `${from} to ${to}`, "NotFound");
    this.#requireParent("rename file", to);
    if (node.bytes !== undefined && this.#isDirectory(to)) {
      throw failure("rename file", `${from} to ${to}`, "IsDirectory");
    }
    for (const [path, moved] of [...this.#nodes]) {
      if (path !== from && !path.startsWith(`${from}/`)) continue;
      this.#nodes.delete(path);
      this.#nodes.set(to + path.slice(from.length), moved);
    }
  }

  remove(path: string): boolean {
    this.#failIfPlanted("remove file", path);
    if (this.#isDirectory(path) && this.list(path).length > 0) {
      throw failure("remove file", path, "NotEmpty");
    }
    return this.#nodes.delete(path);
  }

  makeDirectory(path: string, options: { readonly mode?: number } = {}): void {
    this.#failIfPlanted("create directory", path);
    if (this.#isDirectory(path)) return;
    if (this.#nodes.has(path)) throw failure("create directory", path, "NotDirectory");
    this.makeDirectory(parentOf(path), options);
    this.#nodes.set(path, { bytes: undefined, mode: options.mode ?? 0o755 });
  }

  #isDirectory(path: string): boolean {
    const node = this.#nodes.get(path);
    return node !== undefined && node.bytes === undefined;
  }

  #requireParent(operation: string, path: string): void {
    if (!this.#isDirectory(parentOf(path))) throw failure(operation, path, "NotFound");
  }

  #failIfPlanted(operation: string, path: string): void {
    const code = this.#planted.get(path);
    if (code === undefined) return;
    this.#planted.delete(path);
    throw failure(operation, path, code);
  }
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

/** Through {@linkcode fileError}, so that reasons and remedies are the real ones. */
function failure(operation: string, path: string, code: PlantedFailure): FileError {
  return fileError(operation, path, Object.assign(new Error(code), { code: ERRNO[code] }));
}
