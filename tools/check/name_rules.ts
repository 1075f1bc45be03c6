/** How files are named, sized and kept clean, as data with the reasons. */

/** `allocator.ts`, `link_address_test.ts`, `yaml.d.ts`. */
export const FILE_NAME = /^[a-z][a-z0-9]*(_[a-z0-9]+)*(\.d)?\.ts$/;

/** Words that say nothing about what is inside. */
export const BANNED_WORDS: readonly string[] = [
  "common",
  "helper",
  "helpers",
  "manager",
  "misc",
  "service",
  "util",
  "utils",
];

/** Lines a source file may have. */
export const MAX_LINES = 300;

/** Tables of kernel constants: as long as the header they come from, and nothing but data. */
export const CONSTANT_TABLES = /^lib\/[^/]+\/([a-z0-9_]+_)?constants\.ts$/;

/** Text that must not stay in the tree. */
export interface LeftOver {
  readonly rule: string;
  readonly pattern: RegExp;
  readonly why: string;
  readonly instead: string;
}

/** Written in halves, so that this file does not find itself. */
const MARKERS = ["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK", "TB" + "D", "WI" + "P"];

/** First parts of paths that exist on one machine only. */
const PRIVATE_ROOTS = ["ho" + "me", "Us" + "ers", "wo" + "rk"].map((name) => `/${name}/`);

/** Patterns looked for in every text file of the tree. */
export const LEFT_OVERS: readonly LeftOver[] = [
  {
    rule: "marker",
    pattern: new RegExp(`\\b(${MARKERS.join("|")})\\b`),
    why: "unfinished work belongs to the issue tracker, not into a release",
    instead: "finish it, or open an issue and say the limit in plain words",
  },
  {
    rule: "machine-path",
    // At the start of a path only: `src/home/` is a folder of somebody's project.
    pattern: new RegExp(`(?<![\\w.~}-])(${PRIVATE_ROOTS.join("|")})\\w`),
    why: "the path exists on one machine only",
    instead: "derive it from import.meta.url, an option or the environment",
  },
  {
    rule: "machine-path",
    pattern: new RegExp(`\\b[A-Z]:\\\\+${"Us" + "ers"}\\\\`),
    why: "the path exists on one machine only",
    instead: "derive it from import.meta.url, an option or the environment",
  },
  {
    rule: "registry",
    pattern: new RegExp(`"${"tar" + "ball"}":\\s*"https?:`),
    why: "deno.lock names a registry only one network can reach",
    instead: "lock again with the public npm registry",
  },
];
