/** The table of `headcni ipam`: addresses for people. */

import { type Command, type Flag } from "./command.ts";
import { ExitCode } from "./exit_code.ts";

const DATA_DIR: Flag = {
  name: "data-dir",
  summary: "Where the store is (else HEADCNI_DATA_DIR, else /var/lib/cni/headcni)",
  value: { placeholder: "DIR" },
};
const NETWORK: Flag = {
  name: "network",
  summary: "Only this network",
  value: { placeholder: "NAME" },
};
const JSON_FLAG: Flag = { name: "json", summary: "Print JSON, for programs" };
const DRY_RUN: Flag = { name: "dry-run", summary: "Say what would be done, and do not do it" };
const IFNAME: Flag = {
  name: "ifname",
  summary: "The container's interface; eth0 if not given",
  value: { placeholder: "NAME" },
};

const ABSENT = { code: ExitCode.absent, meaning: "there is no such address or container" };

const LIST: Command = {
  name: "list",
  summary: "List the addresses that are not free, and who holds them",
  flags: [NETWORK, JSON_FLAG, DATA_DIR],
  examples: [
    { command: "headcni ipam list", does: "All networks" },
    {
      command: "headcni ipam list --json | jq -r '.[] | select(.state == \"held\") | .address'",
      does: "Addresses of pods",
    },
  ],
  load: async () => (await import("./ipam/runs.ts")).LIST,
};

const SHOW: Command = {
  name: "show",
  summary: "Show all that is known about an address or a container",
  positionals: [{ name: "TARGET", summary: "An address, or (the start of) a container id" }],
  flags: [NETWORK, JSON_FLAG, DATA_DIR],
  examples: [{ command: "headcni ipam show 10.244.3.7", does: "Who has this address" }],
  exitCodes: [ABSENT],
  load: async () => (await import("./ipam/runs.ts")).SHOW,
};

const STATS: Command = {
  name: "stats",
  summary: "Show how full the pools are",
  flags: [NETWORK, JSON_FLAG, DATA_DIR],
  examples: [{ command: "headcni ipam stats", does: "All networks" }],
  load: async () => (await import("./ipam/runs.ts")).STATS,
};

const ALLOCATE: Command = {
  name: "allocate",
  summary: "Give addresses to a container by hand",
  description:
    "Gives one address of each pool of the network to a container, as ADD does. The pools are\n" +
    "those of --config, else those the network was used with last. Called again for the same\n" +
    "container it prints the same addresses. Until they are on an interface, check counts them\n" +
    "as leaked, and gc would release them.",
  flags: [
    { name: "network", summary: "The network", value: { placeholder: "NAME" } },
    { name: "container", summary: "The container's id", value: { placeholder: "ID" } },
    IFNAME,
    { name: "address", summary: "This address and no other", value: { placeholder: "ADDRESS" } },
    {
      name: "config",
      summary: "Take the pools from this CNI configuration (.conflist or .conf)",
      value: { placeholder: "FILE" },
    },
    DRY_RUN,
    JSON_FLAG,
    DATA_DIR,
  ],
  examples: [{
    command: "headcni ipam allocate --network headcni --container debug-1 --dry-run",
    does: "Which addresses would be next",
  }],
  load: async () => (await import("./ipam/runs.ts")).ALLOCATE,
};

const RELEASE: Command = {
  name: "release",
  summary: "Take addresses back from a container, or end a reservation",
  description:
    "Releases what a container holds, as DEL does: all its addresses at once, which then rest.\n" +
    "Given an address, it releases the container that holds it, or the reservation.\n" +
    "Make sure that the container is gone: its address will be given to another.",
  positionals: [{ name: "TARGET", summary: "An address or a whole container id" }],
  flags: [
    NETWORK,
    IFNAME,
    { name: "now", summary: "Without a rest: the address may be given out at once" },
    DRY_RUN,
    JSON_FLAG,
    DATA_DIR,
  ],
  examples: [{ command: "headcni ipam release 10.244.3.7 --dry-run", does: "Who would lose what" }],
  exitCodes: [ABSENT],
  load: async () => (await import("./ipam/runs.ts")).RELEASE,
};

const RESERVE: Command = {
  name: "reserve",
  summary: "Keep an address from being given out",
  positionals: [{ name: "ADDRESS", summary: "The address" }],
  flags: [
    { name: "network", summary: "The network", value: { placeholder: "NAME" } },
    { name: "note", summary: "Why, for the next reader", value: { placeholder: "TEXT" } },
    DRY_RUN,
    JSON_FLAG,
    DATA_DIR,
  ],
  examples: [{
    command: "headcni ipam reserve 10.244.3.53 --network headcni --note 'node-local DNS'",
    does: "Until headcni ipam release 10.244.3.53",
  }],
  load: async () => (await import("./ipam/runs.ts")).RESERVE,
};

const GC: Command = {
  name: "gc",
  summary: "Release what leaked: holders whose namespace is gone",
  description:
    "Compares the store with the kernel twice, and releases what was leaked both times. What\n" +
    "a container in the middle of its start or end holds is left alone.",
  flags: [
    NETWORK,
    {
      name: "grace",
      summary: "Seconds between the two looks; 5 if not given",
      value: { placeholder: "SECONDS" },
    },
    DRY_RUN,
    JSON_FLAG,
    DATA_DIR,
  ],
  examples: [{ command: "headcni ipam gc --dry-run", does: "What would be released" }],
  load: async () => (await import("./ipam/runs.ts")).GC,
};

const CHECK: Command = {
  name: "check",
  summary: "Compare the store with the kernel and all namespaces",
  description:
    "Counts what leaked (held, but its namespace is gone), what is missing (held, but not in\n" +
    "its namespace), what is foreign (in use and in a pool, but not held) and what is double.\n" +
    "A pod that starts or ends meanwhile shows up: look again before you act.",
  flags: [
    NETWORK,
    { name: "details", summary: "List every finding" },
    JSON_FLAG,
    DATA_DIR,
  ],
  examples: [{ command: "headcni ipam check --details", does: "What differs, and where" }],
  exitCodes: [{ code: ExitCode.findings, meaning: "something differs, or the store is damaged" }],
  load: async () => (await import("./ipam/runs.ts")).CHECK,
};

const IMPORT: Command = {
  name: "import",
  summary: "Take over what another IPAM plugin has given out",
  description:
    "Reads the directory of a network of host-local, or a directory of such directories, and\n" +
    "puts its addresses into the store. The directory is not changed. Doing it twice is safe.\n" +
    "Junk and duplicates are named; nothing of them replaces what the store holds.",
  positionals: [
    { name: "FORMAT", summary: "Whose directory it is", choices: ["host-local"] },
    { name: "DIR", summary: "/var/lib/cni/networks, or one network in it" },
  ],
  flags: [
    {
      name: "network",
      summary: "Name of the network, if not DIR's",
      value: { placeholder: "NAME" },
    },
    DRY_RUN,
    JSON_FLAG,
    DATA_DIR,
  ],
  examples: [{
    command: "headcni ipam import host-local /var/lib/cni/networks --dry-run",
    does: "What would be taken over",
  }],
  exitCodes: [{
    code: ExitCode.findings,
    meaning: "done, but some files are junk or name addresses that others hold",
  }],
  load: async () => (await import("./ipam/runs.ts")).IMPORT,
};

const EXPORT: Command = {
  name: "export",
  summary: "Print all the store knows as one JSON object",
  flags: [NETWORK, DATA_DIR],
  examples: [{ command: "headcni ipam export > addresses.json", does: "For a bug report" }],
  load: async () => (await import("./ipam/runs.ts")).EXPORT,
};

/** `headcni ipam`. */
export const IPAM: Command = {
  name: "ipam",
  summary: "Look after addresses: who holds what, and does it agree",
  description:
    "Addresses of containers: who holds what, how full the pools are, whether the store agrees\n" +
    "with the kernel. Reading needs no lock and never delays a pod. See docs/ipam.md.",
  examples: [{ command: "headcni ipam check", does: "Is all well" }],
  commands: [LIST, SHOW, STATS, ALLOCATE, RELEASE, RESERVE, GC, CHECK, IMPORT, EXPORT],
};
