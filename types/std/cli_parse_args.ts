/** `@std/cli/parse-args`, typed: the npm edition of std carries no types. With JSR, map the name to `jsr:@std/cli/parse-args` instead. */
// @ts-types="./cli_parse_args.d.ts"
export * from "deno-std/cli/parse_args.js";
