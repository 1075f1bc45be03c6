/** `@std/text/closest-string`, typed: the npm edition of std carries no types. With JSR, map the name to `jsr:@std/text/closest-string` instead. */
// @ts-types="./text_closest_string.d.ts"
export * from "deno-std/text/closest_string.js";
