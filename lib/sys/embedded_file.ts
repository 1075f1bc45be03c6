/** Files the build puts into the program, beside the bundled code. */

let directory: string | undefined;

/**
 * Says where they are: the address of any file beside them. The program's entry knows it by
 * `import.meta`; the plugin's script (`tools/build/plugin_script.ts`) has no such thing.
 */
export function setEmbeddedFiles(url: string): void {
  directory = url;
}

/** The address of the embedded file `name`, which need not exist: run from source, none does. */
export function embeddedFile(name: string): URL {
  return new URL(`./${name}`, directory ?? import.meta.url);
}
