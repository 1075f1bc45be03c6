/**
 * Who may import whom, as data: every line carries the reason it is there.
 *
 * A folder or package that is not listed here is an error, so that adding one is
 * a decision somebody wrote down.
 */

/** Folders of `lib/` from top to bottom. A folder imports only from rows below its own. */
export const LAYERS: readonly (readonly string[])[] = [
  ["cli", "daemon", "cni"],
  ["policy", "firewall", "kube", "tailscale", "headscale", "ipam"],
  ["store", "netlink"],
  ["sys", "ip"],
];

/** Why the rows are in this order; printed with every import that goes up or sideways. */
export const LAYER_REASON =
  "imports go down only (cmd → cli, daemon, cni → policy, firewall, kube, tailscale, headscale, " +
  "ipam → store, netlink → sys, ip)";

/** A single file that a folder may import although the rows do not allow it. */
export interface Exception {
  readonly from: string;
  /** Path of the file from the root. */
  readonly file: string;
  readonly reason: string;
}

/** Sideways imports that are allowed after all. */
export const EXCEPTIONS: readonly Exception[] = [
  {
    from: "ip",
    file: "lib/sys/errors.ts",
    reason: "one error base for the whole program; it imports nothing and has no effect",
  },
  {
    from: "cli",
    file: "lib/cni/version.ts",
    reason: "help and version name the CNI versions the plugin speaks; the file knows nothing else",
  },
  {
    from: "cli",
    file: "lib/daemon/tailnet_face.ts",
    reason:
      "`headcni tailnet` runs a part of the daemon; loaded when called, so doctor is without it",
  },
  {
    from: "daemon",
    file: "lib/cni/json_reader.ts",
    reason: "configurations are read and complained about alike; the file knows only its error",
  },
  {
    from: "daemon",
    file: "lib/cni/errors.ts",
    reason: "the error of that reader",
  },
  {
    from: "daemon",
    file: "lib/cni/native/stored_pods.ts",
    reason: "whoever loads the packet filter puts back what the plugin wrote down for it",
  },
];

/** An import that is forbidden for a reason of its own, wherever the rows stand. */
export interface Ban {
  /** Folder of `lib/` the ban holds for. */
  readonly from: string;
  readonly to: readonly string[];
  readonly reason: string;
  readonly instead: string;
}

/** Forbidden pairs. */
export const BANS: readonly Ban[] = [
  {
    from: "cni",
    to: ["headscale", "tailscale", "kube"],
    reason: "a pod must start while the control plane is away",
    instead: "read what the daemon left in lib/store",
  },
  {
    from: "cli",
    to: ["daemon"],
    reason: "doctor must work when the daemon is broken",
    instead: "move what both need into a folder below, or ask the daemon over its socket",
  },
  {
    from: "ip",
    to: ["sys"],
    reason: "address arithmetic is pure",
    instead: "import lib/sys/errors.ts alone, or take the value as a parameter",
  },
];

/** Top folders the product must not reach into: they are not part of it. */
export const OUTSIDE: Readonly<Record<string, string>> = {
  bench: "benchmarks measure the product and are not shipped",
  tests: "black-box tests use the product and are not shipped",
  tools: "build tools make the product and are not shipped",
};

/** Folders beside the tests that may use fakes, and why; what is in them is not shipped. */
export const FAKE_USERS: Readonly<Record<string, string>> = {
  "bench/": "benchmarks fill stores and kernels with what nobody needs",
  "tests/": "black-box tests have stand-ins for what cannot run here",
  "tools/build/rehearsal/": "the build calls the plugin with a fake kernel behind it",
};

/** A package (or built-in module) and the folders that may import it. */
export interface PackageOwner {
  readonly name: string;
  /** Path prefixes from the root; `*_test.ts`/`testing.ts` stand for all such files. */
  readonly owners: readonly string[];
  readonly reason: string;
}

/** Stands for test files and their fakes in {@linkcode PackageOwner.owners}. */
export const TEST_FILES = "*_test.ts";

/** Every package the tree uses. `tools/`, `tests/` and `bench/` may import all that are listed. */
export const PACKAGES: readonly PackageOwner[] = [
  {
    name: "ipaddr.js",
    owners: ["lib/ip/"],
    reason: "strings become addresses in one place",
  },
  {
    name: "@std/assert",
    owners: [TEST_FILES],
    reason: "the product throws its own errors",
  },
  {
    name: "@std/cli",
    owners: ["lib/cli/", "cmd/"],
    reason: "the command line is parsed in one place, and never for the plugin",
  },
  {
    name: "@std/text",
    owners: ["lib/cli/"],
    reason: "suggestions are for people at a terminal",
  },
  {
    name: "@std/yaml",
    owners: ["lib/daemon/", "lib/cli/", "lib/kube/"],
    reason: "the plugin reads JSON only, YAML would slow every pod start",
  },
  {
    name: "prom-client",
    owners: ["lib/daemon/"],
    reason: "metrics have one registry, in the daemon",
  },
  {
    name: "@kubernetes/client-node",
    owners: ["lib/kube/"],
    reason: "it is large and is loaded only when Kubernetes is enabled",
  },
  {
    name: "node:sqlite",
    owners: ["lib/store/"],
    reason: "the database has one owner, who knows its schema and locks",
  },
  {
    name: "node:child_process",
    owners: ["lib/sys/background_process.ts"],
    reason: "programs are run by lib/sys/process.ts; only one that outlives us needs Node's way",
  },
  {
    name: "node:fs",
    owners: ["lib/sys/background_process.ts"],
    reason: "files are read and written by lib/sys/files.ts",
  },
  {
    name: "deno-std",
    owners: ["types/"],
    reason: "code says @std/…, so that one line of deno.json swaps npm for JSR",
  },
];

/** What the CNI plugin may load before it answers. */
export interface FaceRule {
  /** The program's entry. */
  readonly entry: string;
  /** Modules the entry, or another of them, imports dynamically when called as a plugin. */
  readonly faces: readonly string[];
  /** Path prefixes and package names that must stay out, with the reason. */
  readonly banned: readonly string[];
  readonly reason: string;
  readonly instead: string;
}

/** The plugin runs for every pod: what it loads statically is paid on each start. */
export const FACE: FaceRule = {
  entry: "cmd/headcni.ts",
  faces: ["lib/cni/plugin_face.ts"],
  banned: [
    "lib/daemon/",
    "lib/cli/",
    "lib/headscale/",
    "lib/tailscale/",
    "lib/kube/",
    "lib/policy/",
    "@std/yaml",
    "@std/cli",
    "prom-client",
    "@kubernetes/",
  ],
  reason: "every pod start would load it",
  instead: "import it dynamically in the face that needs it",
};
