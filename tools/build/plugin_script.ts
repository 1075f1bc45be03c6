/**
 * Bundles the CNI plugin as one script beside the chunks of the other faces.
 *
 * A runtime starts the plugin for every pod, and more than half of what that cost was V8
 * parsing and compiling thirty modules. Modules cannot carry a code cache of ours, a script
 * can (`code_cache.ts`); `cmd/headcni.ts` loads it.
 */

import { say } from "./build_error.ts";
import { bundleScript } from "./bundle.ts";

/** The script beside the chunks; not `.js`, or deno compile would look for imports in it. */
export const PLUGIN_SCRIPT = "plugin.script";

/** Bundles `face` into `directory` and returns the path of the script. */
export async function bundlePlugin(face: string, directory: string): Promise<string> {
  const path = `${directory}/${PLUGIN_SCRIPT}`;
  await bundleScript(face, path);
  const script = wrapScript(await Deno.readTextFile(path));
  await Deno.writeTextFile(path, script);
  say(`plugin: one script, ${Math.round(script.length / 1000)} kB`);
  return path;
}

/**
 * A CommonJS file as an expression: a function of what it finds around itself. In ASCII, because
 * V8 takes two bytes a character for a source with a single one beyond Latin-1.
 */
export function wrapScript(source: string): string {
  const ascii = source.replaceAll(
    // deno-lint-ignore no-control-regex -- all of ASCII is what is kept
    /[^\x00-\x7f]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `(function (module, exports, require) {${ascii}\n})`;
}
