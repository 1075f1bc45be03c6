/** What this program was built from. */

import { embeddedFile } from "./embedded_file.ts";

/** Written by the build (`tools/build.ts`) beside the bundled code. */
export interface BuildInfo {
  readonly version: string;
  /** Abbreviated commit, with `-dirty` when the tree had changes. */
  readonly commit: string;
  /** The platform the program was compiled for. */
  readonly target: string;
  /** SHA-256 of `deno.lock`: names every package by content. */
  readonly lockHash: string;
}

/** The facts of this build; run from source there are none, and the version says so. */
export function readBuildInfo(): BuildInfo {
  try {
    return JSON.parse(Deno.readTextFileSync(embeddedFile("build_info.json")));
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return {
      version: "0.0.0-source",
      commit: "unknown",
      target: Deno.build.target,
      lockHash: "unknown",
    };
  }
}

/** Versions of the runtime inside the program. */
export function runtimeVersions(): { readonly deno: string; readonly v8: string } {
  return { deno: Deno.version.deno, v8: Deno.version.v8 };
}
