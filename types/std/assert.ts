/** `@std/assert`, typed: the npm edition of std carries no types. With JSR, map the name to `jsr:@std/assert` instead. */
// @ts-types="./assert.d.ts"
export * from "deno-std/assert/mod.js";
