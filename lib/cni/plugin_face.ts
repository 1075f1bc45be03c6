/** The face a container runtime sees: one call, one verb, one JSON value. */

import { setEmbeddedFiles } from "../sys/embedded_file.ts";
import { tellOthers } from "./afterwards.ts";
import { dispatch, type PluginIo, type VerbTable } from "./dispatch.ts";
import { SUPPORTED_VERSIONS } from "./version.ts";

/** Which plugin was called: the network plugin, or the IPAM plugin under its own name. */
export type PluginFace = "main" | "ipam";

const VERBS: Readonly<Record<PluginFace, VerbTable>> = {
  main: {
    ADD: {
      since: "0.1.0",
      about: "ADD",
      load: async () => (await import("./native/add.ts")).add,
    },
    DEL: {
      since: "0.1.0",
      about: "DEL",
      load: async () => (await import("./native/del.ts")).del,
    },
    CHECK: {
      since: "0.4.0",
      about: "CHECK",
      load: async () => (await import("./native/check.ts")).check,
    },
    GC: { since: "1.1.0", load: async () => (await import("./native/gc.ts")).gc },
    STATUS: { since: "1.1.0", load: async () => (await import("./native/status.ts")).status },
  },
  ipam: {
    ADD: {
      since: "0.1.0",
      about: "ADD",
      load: async () => (await import("./ipam_verbs.ts")).add,
    },
    DEL: {
      since: "0.1.0",
      about: "DEL",
      load: async () => (await import("./ipam_verbs.ts")).del,
    },
    CHECK: {
      since: "0.4.0",
      about: "CHECK",
      load: async () => (await import("./ipam_verbs.ts")).check,
    },
    GC: { since: "1.1.0", load: async () => (await import("./ipam_verbs.ts")).gc },
    STATUS: { since: "1.1.0", load: async () => (await import("./ipam_verbs.ts")).status },
  },
};

const ABOUT: Readonly<Record<PluginFace, string>> = {
  main: "headcni, a CNI network plugin",
  ipam: "headcni-ipam, a CNI IPAM plugin",
};

/** Answers one call of the plugin and returns the exit code; `files` is where embedded files are. */
export async function runPlugin(
  face: PluginFace,
  io: PluginIo,
  { files }: { files: string },
): Promise<number> {
  setEmbeddedFiles(files);
  if (io.env("CNI_COMMAND") === undefined) {
    // A person typed the name of the IPAM plugin; CNI programs then say what they are.
    io.stderr.write(`${ABOUT[face]}\nCNI protocol versions: ${SUPPORTED_VERSIONS.join(", ")}\n`);
    return 0;
  }
  // An IPAM call is a part of somebody else's: who made it tells, if anybody does.
  return await dispatch(
    VERBS[face],
    io,
    face === "main" ? { onEnd: (end) => tellOthers(end, io) } : {},
  );
}
