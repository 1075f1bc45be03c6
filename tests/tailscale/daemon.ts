/** A program with a supervisor, compiled by a test: `daemon SETTINGS` starts it and stays. */

import { TailscaledSupervisor } from "../../lib/tailscale/mod.ts";

const supervisor = new TailscaledSupervisor({ settings: JSON.parse(Deno.args[0] ?? "{}") });
await supervisor.start();
Deno.stdout.writeSync(new TextEncoder().encode("started\n"));
setInterval(() => {}, 1000);
