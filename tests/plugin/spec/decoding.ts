/** What comes by standard input, before any key of this plugin is looked at. */

import { assertEquals } from "@std/assert";
import { VERSIONS } from "../config.ts";
import { type Row, rows } from "./row.ts";

const CODE_6 = "SPEC 1.1.0, Error: 6, decoding failure";
const CODE_7 = "SPEC 1.1.0, Error: 7, invalid network config";
const CODE_1 = "SPEC 1.1.0, Error: 1, incompatible version";

const INPUT: Row[] = [
  ...rows(
    { cites: CODE_6, code: 6 },
    ["", " \n", "no JSON", "{", '{"name":"x"', "[]", "null", "42", '"x"', "true", "{}{}", "{} x"],
    (stdin) => ({ what: `${JSON.stringify(stdin)} on standard input`, stdin }),
  ),
  ...rows(
    { cites: CODE_6, code: 6, stdin: "no JSON" },
    ["DEL", "CHECK", "GC", "STATUS"],
    (verb) => ({ what: `${verb} with no JSON on standard input`, verb }),
  ),
  {
    cites: "skel: the environment is read before standard input",
    what: "no container id and no JSON",
    env: { CNI_CONTAINERID: undefined },
    stdin: "no JSON",
    code: 4,
  },
];

const NAMES: Row[] = [
  ...rows(
    { cites: `${CODE_7}; skel: a network needs a name`, code: 7, says: "name" },
    [undefined, "", null, 7, {}, "-a", ".a", "a/b", "../../etc", "a b", "ä", "a\n", "a;b"],
    (name) => ({ what: `the name ${JSON.stringify(name)}`, config: { name } }),
  ),
  ...rows(
    { cites: "skel: a bad name is told by every verb", code: 7, config: { name: "a/b" } },
    ["DEL", "CHECK", "GC", "STATUS"],
    (verb) => ({ what: `${verb} of the name "a/b"`, verb }),
  ),
  ...rows(
    { cites: "SPEC 1.1.0, Configuration format: name", verb: "DEL" },
    ["a", "A.b_c-d", "0", "n".repeat(300)],
    (name) => ({ what: `DEL of a network called ${name.slice(0, 20)}`, config: { name } }),
  ),
];

/** The keys by which the forms of a result are told apart. */
function formOf(version: string): string {
  return version < "0.3" ? "ip4" : "ips";
}

const CNI_VERSIONS: Row[] = [
  ...rows(
    { cites: `${CODE_1}; both sides are named`, code: 1 },
    ["0.0.9", "0.5.0", "1.2.0", "2.0.0", "1.1", "1", "v1.1.0", "1.1.0 ", "abc", "1.1.0.0"],
    (cniVersion) => ({
      what: `cniVersion ${JSON.stringify(cniVersion)}`,
      config: { cniVersion },
      says: "0.1.0, 0.2.0, 0.3.0, 0.3.1, 0.4.0, 1.0.0, 1.1.0",
    }),
  ),
  ...rows(
    { cites: "skel: cniVersion is a text", code: 6, says: "cniVersion" },
    [1, true, {}, ["1.1.0"]],
    (cniVersion) => ({
      what: `cniVersion ${JSON.stringify(cniVersion)}`,
      config: { cniVersion },
    }),
  ),
  ...rows(
    { cites: 'SPEC 0.1.0 knows no cniVersion; libcni sends "" for a list without', makesPod: true },
    [undefined, "", null],
    (cniVersion) => ({
      what: `cniVersion ${JSON.stringify(cniVersion)} means 0.1.0`,
      config: { cniVersion },
      result: (result) => {
        assertEquals([result.cniVersion, "ip4" in result], ["0.1.0", true]);
      },
    }),
  ),
  ...rows(
    { cites: "SPEC, ADD Success, of each version", makesPod: true },
    VERSIONS,
    (cniVersion) => ({
      what: `ADD in ${cniVersion}`,
      config: { cniVersion },
      result: (result) => {
        assertEquals([result.cniVersion, formOf(cniVersion) in result], [cniVersion, true]);
      },
    }),
  ),
  ...rows({ cites: "SPEC, DEL, of each version", verb: "DEL" }, VERSIONS, (cniVersion) => ({
    what: `DEL in ${cniVersion}`,
    config: { cniVersion },
  })),
  ...rows({ cites: "SPEC 0.4.0: CHECK is new", verb: "CHECK" }, VERSIONS, (cniVersion) => ({
    what: `CHECK in ${cniVersion}`,
    config: { cniVersion },
    code: cniVersion < "0.4" ? 1 : 7,
    says: cniVersion < "0.4" ? "0.4.0" : "prevResult",
  })),
  ...["GC", "STATUS"].flatMap((verb) =>
    rows({ cites: `SPEC 1.1.0: ${verb} is new`, verb }, VERSIONS, (cniVersion) => ({
      what: `${verb} in ${cniVersion}`,
      config: { cniVersion },
      code: cniVersion < "1.1" ? 1 : 0,
    }))
  ),
  ...rows(
    { cites: "SPEC 1.1.0, Error: cniVersion is that of the configuration", code: 7 },
    VERSIONS,
    (cniVersion) => ({
      what: `an error in ${cniVersion}`,
      config: { cniVersion, mtu: "x" },
      result: (error) => assertEquals(error.cniVersion, cniVersion),
    }),
  ),
];

/** All rows about decoding. */
export const DECODING: readonly Row[] = [...INPUT, ...NAMES, ...CNI_VERSIONS];
