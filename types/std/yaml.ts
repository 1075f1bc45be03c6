/** `@std/yaml`, typed: the npm edition of std carries no types. With JSR, map the name to `jsr:@std/yaml` instead. */
// @ts-types="./yaml.d.ts"
export * from "deno-std/yaml/mod.js";
