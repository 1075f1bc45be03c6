/** Reads the package out of an import specifier. */

/** Whether `specifier` names a package or a built-in module, and no file. */
export function isPackage(specifier: string): boolean {
  return !/^(\.{0,2}\/|file:)/.test(specifier);
}

/**
 * The package of `specifier`: without registry, version and path. Built-ins keep their prefix.
 *
 * @example
 * ```ts
 * import { packageName } from "./package_name.ts";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(packageName("@std/cli/parse-args"), "@std/cli");
 * assertEquals(packageName("npm:prom-client@15.1.3"), "prom-client");
 * assertEquals(packageName("npm:/deno-std@1.4.0/yaml/mod.js"), "deno-std");
 * assertEquals(packageName("node:sqlite"), "node:sqlite");
 * ```
 */
export function packageName(specifier: string): string {
  if (specifier.startsWith("node:")) return specifier.split("/", 1)[0] ?? specifier;
  const bare = specifier.replace(/^(npm|jsr):\/?/, "");
  return /^(@[^/]+\/)?[^/@]+/.exec(bare)?.[0] ?? specifier;
}
