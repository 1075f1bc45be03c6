/**
 * The module graph of the tree, as Deno itself resolves it.
 *
 * `deno info --json` parses every file, so imports inside strings, comments and
 * doc examples do not count, and import-map names are resolved. With `--no-npm`
 * and `--no-remote` it needs no network and takes some 20 ms.
 */

import { CheckError } from "./source_tree.ts";

/** One import, export-from or `import()` of a file. Several of the same name are one. */
export interface Import {
  /** As written: `../ip/mod.ts`, `@std/yaml`, `node:sqlite`. */
  readonly specifier: string;
  /** Path of the imported file from the root; `undefined` for packages and built-ins. */
  readonly target: string | undefined;
  /** Counted from 1. */
  readonly line: number;
  /** `type`: erased before the program runs. `dynamic`: every use of it is an `import()`. */
  readonly kind: "static" | "dynamic" | "type";
  /** Why it leads nowhere, when it does. */
  readonly error: string | undefined;
}

/** A file of the tree and what it imports. */
export interface Module {
  readonly path: string;
  readonly imports: readonly Import[];
  /** Why Deno could not read it, when it could not. */
  readonly error: string | undefined;
}

/** Path → module, for every file that was asked for and every one they reach. */
export type ModuleGraph = ReadonlyMap<string, Module>;

/** The part of `deno info --json` (version 1) that is used here. */
interface DenoInfo {
  readonly version: number;
  readonly modules: readonly {
    readonly specifier: string;
    readonly error?: string;
    readonly dependencies?: readonly Dependency[];
  }[];
}

interface Dependency {
  readonly specifier: string;
  readonly code?: Resolution;
  readonly type?: Resolution;
  readonly isDynamic?: boolean;
}

interface Resolution {
  readonly specifier?: string;
  readonly error?: string;
  readonly span?: { readonly start: { readonly line: number } };
}

/** Builds the graph of `paths` (from `root`). Broken files and imports stay in it, with their error. */
export async function loadModuleGraph(
  root: string,
  paths: readonly string[],
): Promise<ModuleGraph> {
  const base = await Deno.realPath(root);
  const prefix = `${fileUrl(base)}/`;
  const info = await denoInfo(base, paths.map((path) => prefix + encodePath(path)));
  const graph = new Map<string, Module>();
  for (const module of info.modules) {
    const path = pathBelow(prefix, module.specifier);
    if (path === undefined) continue;
    const imports = (module.dependencies ?? []).map((entry) => toImport(prefix, entry));
    graph.set(path, { path, imports, error: module.error });
  }
  return graph;
}

function toImport(prefix: string, entry: Dependency): Import {
  const resolution = entry.code ?? entry.type;
  const target = resolution?.specifier;
  return {
    specifier: entry.specifier,
    target: target === undefined ? undefined : pathBelow(prefix, target),
    line: (resolution?.span?.start.line ?? 0) + 1,
    kind: entry.code === undefined ? "type" : entry.isDynamic ? "dynamic" : "static",
    error: resolution?.error,
  };
}

/** `deno info` takes one file: a temporary one that imports all the others. */
async function denoInfo(root: string, urls: readonly string[]): Promise<DenoInfo> {
  const entry = await Deno.makeTempFile({ prefix: "headcni-graph-", suffix: ".ts" });
  try {
    await Deno.writeTextFile(
      entry,
      urls.map((url) => `import ${JSON.stringify(url)};\n`).join(""),
    );
    const config = `${root}/deno.json`;
    const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["info", "--json", "--no-lock", "--no-npm", "--no-remote", "--config", config, entry],
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).output();
    if (!success) {
      const reason = new TextDecoder().decode(stderr).trim();
      throw new CheckError(`Cannot read the module graph of "${root}": ${reason}`);
    }
    const info: DenoInfo = JSON.parse(new TextDecoder().decode(stdout));
    if (info.version !== 1) {
      throw new CheckError(`Cannot read the module graph: format ${info.version} is not known`);
    }
    return info;
  } finally {
    await Deno.remove(entry);
  }
}

function fileUrl(path: string): string {
  return `file://${encodePath(path)}`;
}

function encodePath(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}

function pathBelow(prefix: string, url: string): string | undefined {
  return url.startsWith(prefix) ? decodeURIComponent(url.slice(prefix.length)) : undefined;
}
