/** Results of earlier plugins in a chain: SPEC, "Section 3" and "prevResult". */

import { assertEquals } from "@std/assert";
import { type Json } from "../namespace.ts";
import { type Row, rows } from "./row.ts";

const CHAIN = "SPEC 1.1.0, ADD: prevResult is output, equal or modified";

const RICH: Json = {
  interfaces: [{ name: "br7" }, {
    name: "eth9",
    sandbox: "/run/netns/x",
    mac: "02:00:00:00:00:07",
  }],
  ips: [{ address: "192.0.2.5/24", gateway: "192.0.2.1", interface: 1 }],
  routes: [{ dst: "0.0.0.0/0", gw: "192.0.2.1" }],
  dns: { nameservers: ["192.0.2.53"], search: ["a.example"] },
};

const OLD: Json = {
  ip4: { ip: "192.0.2.5/24", gateway: "192.0.2.1", routes: [{ dst: "0.0.0.0/0" }] },
  ip6: { ip: "2001:db8::5/64" },
  dns: { domain: "a.example" },
};

const withFamily = { ...RICH, ips: [{ version: "4", ...RICH.ips[0] }] };

/** Each form a result may have, by the versions that have it. */
const FORMS: readonly (readonly [version: string, result: Json])[] = [
  ["0.1.0", OLD],
  ["0.2.0", OLD],
  ["0.3.0", withFamily],
  ["0.3.1", withFamily],
  ["0.4.0", withFamily],
  ["1.0.0", RICH],
  ["1.1.0", RICH],
];

/** A chain with nothing of ours. */
const PASSING = { ipam: undefined };

/** Results that are none. */
const UNREADABLE: readonly unknown[] = [
  "x",
  5,
  [],
  { cniVersion: "7.0.0" },
  { cniVersion: 1 },
  { cniVersion: "1.1.0", ips: "x" },
  { cniVersion: "1.1.0", ips: [{}] },
  { cniVersion: "1.1.0", ips: [{ address: "192.0.2.5/24", interface: 0 }] },
  {
    cniVersion: "1.1.0",
    interfaces: [{ name: "a" }],
    ips: [{ address: "1.2.3.4/8", interface: 1 }],
  },
  {
    cniVersion: "1.1.0",
    interfaces: [{ name: "a" }],
    ips: [{ address: "1.2.3.4/8", interface: -1 }],
  },
  { cniVersion: "1.1.0", interfaces: [{}] },
  { cniVersion: "1.1.0", routes: [{}] },
  { cniVersion: "1.1.0", routes: [{ dst: "0.0.0.0/0", mtu: "x" }] },
  { cniVersion: "1.1.0", dns: [] },
  { cniVersion: "0.2.0", ip4: "x" },
];

/** All rows about previous results. */
export const PREVIOUS: readonly Row[] = [
  ...rows({ cites: CHAIN }, FORMS, ([cniVersion, form]) => ({
    what: `a result of ${cniVersion} passes through unchanged`,
    config: { ...PASSING, cniVersion, prevResult: { cniVersion, ...form } },
    result: (result) => assertEquals(result, { cniVersion, ...form }),
  })),
  ...rows(
    { cites: "cni issue 862: results are converted between families of versions" },
    FORMS,
    ([cniVersion, form]) => ({
      what: `a result of ${cniVersion} passes through a chain of 1.1.0`,
      config: { ...PASSING, prevResult: { cniVersion, ...form } },
      result: (result) => {
        assertEquals(result.cniVersion, "1.1.0");
        assertEquals(result.ips[0].address, "192.0.2.5/24");
      },
    }),
  ),
  ...rows({ cites: CHAIN, makesPod: true }, FORMS, ([cniVersion, form]) => ({
    what: `a result of ${cniVersion} is put in front of ours`,
    config: { prevResult: { cniVersion, ...form } },
    env: { CNI_IFNAME: "net1" },
    result: ({ cniVersion, interfaces, ips }) => {
      assertEquals(cniVersion, "1.1.0");
      assertEquals(ips[0].address, "192.0.2.5/24");
      const ours = ips.at(-1);
      assertEquals(interfaces[ours.interface].name, "net1");
    },
  })),
  {
    cites: "cni.md 1.8: a result without cniVersion takes that of the configuration",
    what: "a result without cniVersion passes through",
    config: { ...PASSING, prevResult: RICH },
    code: 0,
    result: ({ ips }) => assertEquals(ips, RICH.ips),
  },
  {
    cites: CHAIN,
    what: "keys we do not know pass through",
    config: {
      ...PASSING,
      prevResult: { cniVersion: "1.1.0", ...RICH, "x.example/extra": { a: 1 } },
    },
    code: 0,
    result: (result) => assertEquals(result["x.example/extra"], { a: 1 }),
  },
  {
    cites: CHAIN,
    what: "a result of IPv6 alone passes through",
    config: {
      ...PASSING,
      prevResult: { cniVersion: "1.1.0", ips: [{ address: "2001:db8::5/64" }] },
    },
    code: 0,
    result: ({ ips }) => assertEquals(ips, [{ address: "2001:db8::5/64" }]),
  },
  ...rows({ cites: "SPEC 1.1.0, Error: 6", code: 6 }, UNREADABLE, (prevResult) => ({
    what: `ADD after ${JSON.stringify(prevResult)}`,
    config: { prevResult },
    says: "prevResult",
  })),
  ...rows({ cites: "SPEC 1.1.0, Error: 6", code: 6 }, UNREADABLE.slice(0, 7), (prevResult) => ({
    what: `passing ${JSON.stringify(prevResult)} through`,
    config: { ...PASSING, prevResult },
    says: "prevResult",
  })),
  ...rows({ cites: "SPEC 1.1.0, DEL: prevResult may be anything", verb: "DEL" }, UNREADABLE, (
    prevResult,
  ) => ({ what: `DEL after ${JSON.stringify(prevResult)}`, config: { prevResult } })),
  {
    cites: "SPEC 1.1.0, CHECK: prevResult is required",
    what: "CHECK without prevResult",
    verb: "CHECK",
    code: 7,
    says: "prevResult",
  },
  {
    cites: "SPEC 1.1.0, CHECK: prevResult is required",
    what: "CHECK with prevResult null",
    verb: "CHECK",
    config: { prevResult: null },
    code: 7,
    says: "prevResult",
  },
  {
    cites: "SPEC 1.1.0, CHECK",
    what: "CHECK of a container nobody has added",
    verb: "CHECK",
    config: { prevResult: { cniVersion: "1.1.0", ...RICH } },
    code: 103,
  },
  {
    cites: "SPEC 1.1.0, CHECK: other plugins of the chain answer for their part",
    what: "CHECK with nothing of ours configured",
    verb: "CHECK",
    config: { ...PASSING, prevResult: { cniVersion: "1.1.0", ...RICH } },
    code: 0,
  },
];
