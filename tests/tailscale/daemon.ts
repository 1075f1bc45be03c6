/**
 * A program with a supervisor, compiled by a test: `daemon SETTINGS` starts tailscaled and stays,
 * `daemon SETTINGS release` lets it go and ends.
 */

import { TailscaledSupervisor } from "../../lib/tailscale/mod.ts";

const supervisor = new TailscaledSupervisor({ settings: JSON.parse(Deno.args[0] ?? "{}") });
await supervisor.start();
Deno.stdout.writeSync(new TextEncoder().encode("started\n"));
if (Deno.args[1] === "release") await supervisor.release();
else setInterval(() => {}, 1000);
