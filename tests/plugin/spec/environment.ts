/** What comes by the environment: SPEC, "Parameters". */

import { type Row, rows } from "./row.ts";

const PARAMETERS = "SPEC 1.1.0, Parameters";
const CODE_4 = "SPEC 1.1.0, Error: 4, the message names the variable";

const MISSING: Row[] = [
  ...rows(
    { cites: CODE_4, code: 4 },
    [
      ["ADD", "CNI_CONTAINERID"],
      ["ADD", "CNI_NETNS"],
      ["ADD", "CNI_IFNAME"],
      ["DEL", "CNI_CONTAINERID"],
      ["DEL", "CNI_IFNAME"],
      ["CHECK", "CNI_CONTAINERID"],
      ["CHECK", "CNI_NETNS"],
      ["CHECK", "CNI_IFNAME"],
    ] as const,
    ([verb, name]) => ({
      what: `${verb} without ${name}`,
      verb,
      env: { [name]: undefined },
      says: name,
    }),
  ),
  ...rows(
    { cites: "SPEC 1.1.0, Parameters; empty counts as missing in the Go library", code: 4 },
    ["CNI_CONTAINERID", "CNI_NETNS", "CNI_IFNAME"],
    (name) => ({ what: `ADD with an empty ${name}`, env: { [name]: "" }, says: name }),
  ),
  {
    cites: "skel: all missing variables are told together, in this order",
    what: "ADD without any variable",
    env: { CNI_CONTAINERID: undefined, CNI_NETNS: undefined, CNI_IFNAME: undefined },
    code: 4,
    says: "CNI_CONTAINERID, CNI_NETNS, CNI_IFNAME",
  },
  {
    cites: "SPEC 1.1.0, DEL: CNI_NETNS is optional",
    what: "DEL without CNI_NETNS",
    verb: "DEL",
    env: { CNI_NETNS: undefined },
    code: 0,
  },
  {
    cites: "libcni sends CNI_NETNS empty when the namespace is gone",
    what: "DEL with an empty CNI_NETNS",
    verb: "DEL",
    env: { CNI_NETNS: "" },
    code: 0,
  },
  ...rows(
    { cites: "libcni sends the other variables empty with GC and STATUS", code: 0 },
    ["GC", "STATUS"],
    (verb) => ({
      what: `${verb} with empty variables`,
      verb,
      env: { CNI_CONTAINERID: "", CNI_NETNS: "", CNI_IFNAME: "", CNI_ARGS: "" },
    }),
  ),
  ...rows(
    { cites: "SPEC 1.1.0, Parameters: CNI_PATH is needed only by who runs other plugins" },
    ["DEL", "GC", "STATUS"],
    (verb) => ({ what: `${verb} without CNI_PATH`, verb, env: { CNI_PATH: undefined } }),
  ),
  {
    cites: PARAMETERS,
    what: "ADD without CNI_PATH",
    env: { CNI_PATH: undefined },
    code: 0,
    makesPod: true,
  },
];

const COMMANDS: Row[] = [
  ...rows(
    { cites: CODE_4, code: 4 },
    ["", "add", "Add", "VERSIONS", "UPDATE", "ADD ", " ADD", "__proto__", "constructor", "ADD\n"],
    (verb) => ({
      what: `CNI_COMMAND=${JSON.stringify(verb)}`,
      verb,
      says: "CNI_COMMAND",
    }),
  ),
  {
    cites: "libcni matches the text of an unknown command",
    what: "an unknown command is quoted",
    verb: "WATCH",
    code: 4,
    says: "unknown CNI_COMMAND: WATCH",
  },
  ...rows(
    { cites: "SPEC 1.1.0, VERSION; skel never reads its input", verb: "VERSION" },
    ["", "no JSON", '{"cniVersion":"1.0.0"}', '{"cniVersion":"9.9.9"}'],
    (stdin) => ({ what: `VERSION with ${JSON.stringify(stdin)} on standard input`, stdin }),
  ),
  {
    cites: "libcni sends `dummy` in the other variables of VERSION",
    what: "VERSION with other variables",
    verb: "VERSION",
    env: { CNI_NETNS: "dummy", CNI_IFNAME: "dummy", CNI_PATH: "dummy", CNI_CONTAINERID: "" },
    code: 0,
  },
];

const CONTAINER_IDS: Row[] = [
  ...rows(
    { cites: `${PARAMETERS}: CNI_CONTAINERID begins alphanumerically`, code: 4 },
    [
      "-a",
      ".a",
      "_a",
      "..",
      "../a",
      "a/b",
      "a b",
      "a\n",
      "a:b",
      "a;b",
      "a%2fb",
      "ä",
      "$(id)",
      "a*",
    ],
    (id) => ({
      what: `container id ${JSON.stringify(id)}`,
      env: { CNI_CONTAINERID: id },
      says: "CNI_CONTAINERID",
    }),
  ),
  ...rows(
    { cites: `${PARAMETERS}: CNI_CONTAINERID`, verb: "DEL", code: 4 },
    ["../a", "a/b"],
    (id) => ({ what: `DEL of container id ${id}`, env: { CNI_CONTAINERID: id } }),
  ),
  ...rows(
    { cites: `${PARAMETERS}: CNI_CONTAINERID`, makesPod: true },
    ["a", "A.b_c-d", "0".repeat(64), "x".repeat(1000), "a..b"],
    (id) => ({
      what: `container id ${id.length > 64 ? `of ${id.length} characters` : id}`,
      env: { CNI_CONTAINERID: id },
    }),
  ),
];

const IFNAMES: Row[] = [
  ...rows(
    { cites: `${PARAMETERS}: CNI_IFNAME; dev_valid_name() of the kernel`, code: 4 },
    [
      ".",
      "..",
      "a/b",
      "../a",
      "a:b",
      "a b",
      "a\tb",
      "a\n",
      "a\u00a0b",
      "a\u2003b",
      "a\u0085b",
      "à", // 0xC3 0xA0: the kernel takes the second byte for white space
      "sixteen-letters-",
      "ääääääää",
      "eth%d",
    ],
    (name) => ({
      what: `interface ${JSON.stringify(name)}`,
      env: { CNI_IFNAME: name },
      says: "CNI_IFNAME",
    }),
  ),
  ...rows(
    { cites: `${PARAMETERS}: CNI_IFNAME; everything else is a name`, makesPod: true },
    ["a", "eth0.100", "-x", "a@b", "é", "fifteen-letters", "_", "a;b", "--help", "a\ufeffb"],
    (name) => ({
      what: `interface ${JSON.stringify(name)}`,
      env: { CNI_IFNAME: name },
    }),
  ),
  {
    cites: "SPEC 1.1.0, ADD: an interface of that name is an error",
    what: "interface lo, which every container has",
    env: { CNI_IFNAME: "lo" },
    code: 104,
  },
];

const ARGS: Row[] = [
  ...rows(
    { cites: "CONVENTIONS, CNI_ARGS; issue 560: strictness breaks chains", makesPod: true },
    [
      "IgnoreUnknown=1;K8S_POD_NAMESPACE=a;K8S_POD_NAME=b;K8S_POD_UID=c",
      "K8S_POD_NAME=b",
      "NOT_A_PAIR",
      "a=b=c",
      ";",
      "=x",
      "IP=",
      "IgnoreUnknown=maybe",
      "IP=10.83.0.200",
    ],
    (args) => ({ what: `CNI_ARGS=${args}`, env: { CNI_ARGS: args } }),
  ),
  ...rows(
    { cites: "CONVENTIONS, CNI_ARGS: IP and MAC", code: [4, 7, 101] },
    ["IP=x", "IP=10.99.0.1", "IP=10.83.0.1", "IP=fd83::5", "MAC=x", "MAC=01:00:5e:00:00:01"],
    (args) => ({ what: `CNI_ARGS=${args}`, env: { CNI_ARGS: args } }),
  ),
  ...rows(
    { cites: "CONVENTIONS, CNI_ARGS; DEL must not fail on what ADD was called with", verb: "DEL" },
    ["NOT_A_PAIR", "IP=x", "MAC=x"],
    (args) => ({ what: `DEL with CNI_ARGS=${args}`, env: { CNI_ARGS: args } }),
  ),
];

/** All rows about the environment. */
export const ENVIRONMENT: readonly Row[] = [
  ...MISSING,
  ...COMMANDS,
  ...CONTAINER_IDS,
  ...IFNAMES,
  ...ARGS,
];
