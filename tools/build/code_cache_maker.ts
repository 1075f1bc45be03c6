/**
 * Compiled and run by `code_cache.ts`: makes the code cache of the plugin's script.
 *
 * Usage: maker SCRIPT CACHE DIRECTORY
 */

import { Buffer } from "node:buffer";
import process from "node:process";
import { Script } from "node:vm";
import { type Plugin, rehearse } from "./rehearsal/rehearse.ts";

const [source = "", cache = "", directory = ""] = Deno.args;
const text = Deno.readTextFileSync(source);
const script = new Script(text);
const module = { exports: {} };
script.runInThisContext()(module, module.exports, process.getBuiltinModule);
await rehearse(module.exports as Plugin, directory);
const made = script.createCachedData();
const { cachedDataRejected } = new Script(text, { cachedData: Buffer.from(made) });
if (cachedDataRejected !== false) throw new Error("V8 rejects its own cache");
Deno.writeFileSync(cache, made);
