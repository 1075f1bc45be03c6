/** DEL, GC and STATUS: what they must put up with. */

import { ipam, SUBNET4 } from "../config.ts";
import { type Json } from "../namespace.ts";
import { type Row, rows } from "./row.ts";

/** Configurations that were edited since the ADD. */
const EDITED: readonly Json[] = [
  { mtu: "x" },
  { mode: "x" },
  { ipam: undefined },
  { ipam: {} },
  { ipam: ipam(["x"]) },
  { ipam: ipam([]) },
  { ipam: ipam([SUBNET4], { routes: "x", cooldown: "x" }) },
  { ipam: undefined, pod_cidr: "x" },
  { runtimeConfig: "x" },
  { runtimeConfig: { portMappings: "x" } },
  { dns: "x" },
  { name: "never-heard-of" },
];

/** All rows about verbs that clean up. */
export const LENIENCY: readonly Row[] = [
  {
    cites: "SPEC 1.1.0, DEL: should complete without error even if resources are missing",
    what: "DEL of a container nobody has added",
    verb: "DEL",
    code: 0,
  },
  ...rows(
    { cites: "SPEC 1.1.0, DEL; plugins issue 752: a DEL goes by what was recorded", verb: "DEL" },
    EDITED,
    (config) => ({ what: `DEL with ${JSON.stringify(config)}`, config }),
  ),
  ...rows(
    { cites: "SPEC 1.1.0, GC: prevResult and runtimeConfig are absent", verb: "GC" },
    [null, [], [{ containerID: "nobody", ifname: "eth0" }]],
    (list) => ({
      what: `GC with valid attachments ${JSON.stringify(list)} on an unused node`,
      config: { name: "unused", "cni.dev/valid-attachments": list },
    }),
  ),
  {
    cites: "SPEC 1.1.0, GC",
    what: "GC in a chain with nothing of ours",
    verb: "GC",
    config: { name: "unused", ipam: undefined },
    code: 0,
  },
  {
    cites: "SPEC 1.1.0, STATUS and Error: 50",
    what: "STATUS without addresses to give",
    verb: "STATUS",
    config: { ipam: undefined },
    code: 50,
  },
  {
    cites: "SPEC 1.1.0, STATUS: unusable configuration",
    what: "STATUS with a wrong mtu",
    verb: "STATUS",
    config: { mtu: "x" },
    code: 7,
  },
];
