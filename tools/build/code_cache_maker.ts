/**
 * Compiled and run by `code_cache.ts`: makes a code cache, or checks that one is accepted.
 *
 * Usage: maker make SCRIPT CACHE | maker check SCRIPT CACHE
 */

import { Buffer } from "node:buffer";
import { Script } from "node:vm";

const [verb, source = "", cache = ""] = Deno.args;
const text = Deno.readTextFileSync(source);
if (verb === "make") {
  Deno.writeFileSync(cache, new Script(text).createCachedData());
} else {
  const cachedData = Buffer.from(Deno.readFileSync(cache));
  const { cachedDataRejected } = new Script(text, { cachedData });
  if (cachedDataRejected !== false) throw new Error("V8 rejects the cache");
}
