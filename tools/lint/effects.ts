/** What counts as an ambient effect, and which port to use instead. */

/** Files whose job is to touch the outside world. Everything else asks them for it. */
const EFFECT_OWNERS: readonly RegExp[] = [
  /\/cmd\/[^/]+\.ts$/,
  /\/lib\/sys\//,
  /\/lib\/netlink\/(file_access|libc|libmnl|named_netns|netns|poll|sysctl|unix_datagram)\.ts$/,
  /\/(tools|tests|bench|types)\//,
  /_test\.ts$/,
  /\/testing\.ts$/,
];

const CLOCK = "lib/sys/clock.ts";

/** Global → the port that owns it. */
export const EFFECT_GLOBALS: ReadonlyMap<string, string> = new Map([
  ["Deno", "lib/sys (files, processes, clock) or a parameter"],
  ["EventSource", "a fetch-like parameter"],
  ["WebSocket", "a connection that is passed in"],
  ["Worker", "a parameter that runs the work"],
  ["XMLHttpRequest", "a fetch-like parameter"],
  ["alert", "the output that is passed in"],
  ["confirm", "an answer that is passed in"],
  ["console", "the Log that is passed in (lib/sys/log.ts)"],
  ["fetch", "a fetch-like parameter with the real one as default in lib/sys"],
  ["localStorage", "lib/store"],
  ["process", "lib/sys or a parameter"],
  ["prompt", "an answer that is passed in"],
  ["sessionStorage", "lib/store"],
  ["setImmediate", `Clock.sleep (${CLOCK})`],
  ["setInterval", `Clock.sleep (${CLOCK})`],
  ["setTimeout", `Clock.sleep (${CLOCK})`],
]);

/** Object.member → the port that owns it. */
export const EFFECT_MEMBERS: ReadonlyMap<string, string> = new Map([
  ["AbortSignal.timeout", `withDeadline (${CLOCK})`],
  ["Date.now", `Clock.now (${CLOCK})`],
  ["Math.random", "a random source that is passed in"],
  ["crypto.getRandomValues", "a random source that is passed in"],
  ["crypto.randomUUID", "a random source that is passed in"],
  ["performance.now", `Clock.monotonicMs (${CLOCK})`],
  ["performance.timeOrigin", `Clock.now (${CLOCK})`],
]);

/** Names of the object all globals hang on. */
export const GLOBAL_OBJECTS: ReadonlySet<string> = new Set([
  "global",
  "globalThis",
  "self",
  "window",
]);

/** Node modules that are effects by another name. `node:sqlite` has an owner in check_imports. */
export const EFFECT_MODULES: RegExp = new RegExp(
  "^node:(child_process|cluster|dgram|dns|fs|http|http2|https|inspector|module|net|os|perf_hooks|" +
    "process|readline|repl|timers|tls|tty|v8|vm|worker_threads)(/|$)",
);

/** Whether the file at `filename` may touch the outside world. */
export function ownsEffects(filename: string): boolean {
  const path = filename.replaceAll("\\", "/");
  return EFFECT_OWNERS.some((owner) => owner.test(path));
}
