/** The ways in which a plugin of a chain can fail, and what is to be told about each. */

import { type Verb } from "../plugin/node.ts";
import { type FakeNode, resultOf, type Type } from "./fake_plugins.ts";

/** One way. */
export interface Way {
  readonly name: string;
  /** Makes the plugin fail at the verb. */
  readonly plant: (node: FakeNode, type: Type, verb: Verb) => void;
  /** Part of the message; `{type}` is the plugin. */
  readonly told: string;
  /** The number told. */
  readonly code: number;
  /** Whether only a verb with a result can fail like this. */
  readonly ofResult?: boolean;
  /** Whether the program is not even started. */
  readonly neverRuns?: boolean;
  /** Whether it takes until the deadline. */
  readonly isSlow?: boolean;
}

/** An error object of the plugin's own. */
const OWN = JSON.stringify({ cniVersion: "1.1.0", code: 123, msg: "own words", details: "more" });

/** All of them. */
export const WAYS: readonly Way[] = [
  {
    name: "an error object",
    plant: (node, type, verb) => node.answer(type, verb, OWN, 1),
    told: "own words",
    code: 123,
  },
  {
    name: "an exit without JSON",
    plant: (node, type, verb) => node.script(type, verb, "echo panic: boom >&2; exit 3"),
    told: "it ended with status 3: panic: boom",
    code: 999,
  },
  {
    name: "a signal",
    plant: (node, type, verb) => node.script(type, verb, "kill -9 $$"),
    told: "SIGKILL ended it: it printed nothing",
    code: 999,
  },
  {
    name: "garbage",
    plant: (node, type, verb) => node.answer(type, verb, "hello {"),
    told: "it printed hello {",
    code: 999,
    ofResult: true,
  },
  {
    name: "null",
    plant: (node, type, verb) => node.answer(type, verb, "null"),
    told: "it printed null, no result",
    code: 999,
    ofResult: true,
  },
  {
    name: "nothing",
    plant: (node, type, verb) => node.script(type, verb, "exit 0"),
    told: "it printed nothing instead of a result",
    code: 999,
    ofResult: true,
  },
  {
    name: "a result of an older version",
    plant: (node, type, verb) => node.answer(type, verb, JSON.stringify(resultOf(type, "0.4.0"))),
    told: 'its result is of CNI version "0.4.0", it was asked in 1.1.0',
    code: 999,
    ofResult: true,
  },
  {
    name: "a result of a newer version",
    plant: (node, type, verb) => node.answer(type, verb, JSON.stringify(resultOf(type, "2.0.0"))),
    told: 'its result is of CNI version "2.0.0", it was asked in 1.1.0',
    code: 999,
    ofResult: true,
  },
  {
    name: "a result that contradicts itself",
    plant: (node, type, verb) =>
      node.answer(type, verb, '{"ips":[{"address":"10.0.0.1/8","interface":7}]}'),
    told: "10.0.0.1/8 is on interface 7, there are 0",
    code: 6,
    ofResult: true,
  },
  {
    name: "an error object and status 0",
    plant: (node, type, verb) => node.answer(type, verb, OWN),
    told: "it ended with status 0 but printed an error: own words",
    code: 999,
    ofResult: true,
  },
  {
    name: "a missing program",
    plant: (node, type) => Deno.removeSync(`${node.bin}/${type}`),
    told: "it is in none of CNI_PATH",
    code: 999,
    neverRuns: true,
  },
  {
    name: "a program that is not executable",
    plant: (node, type) => Deno.chmodSync(`${node.bin}/${type}`, 0o644),
    told: "is not executable",
    code: 999,
    neverRuns: true,
  },
  {
    name: "a program that hangs",
    plant: (node, type, verb) => node.script(type, verb, "sleep 300 & wait"),
    told: "it did not end within",
    code: 999,
    isSlow: true,
  },
];
