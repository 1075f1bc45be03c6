/** The face a container runtime sees: one call, one verb, one JSON value. */

import { dispatch, type PluginIo, type VerbTable } from "./dispatch.ts";
import { SUPPORTED_VERSIONS } from "./version.ts";

/** Which plugin was called: the network plugin, or the IPAM plugin under its own name. */
export type PluginFace = "main" | "ipam";

const VERBS: Readonly<Record<PluginFace, VerbTable>> = { main: {}, ipam: {} };

const ABOUT: Readonly<Record<PluginFace, string>> = {
  main: "headcni, a CNI network plugin",
  ipam: "headcni-ipam, a CNI IPAM plugin",
};

/** Answers one call of the plugin and returns the exit code. */
export async function runPlugin(face: PluginFace, io: PluginIo): Promise<number> {
  if (io.env("CNI_COMMAND") === undefined) {
    // A person typed the name of the IPAM plugin; CNI programs then say what they are.
    io.stderr.write(`${ABOUT[face]}\nCNI protocol versions: ${SUPPORTED_VERSIONS.join(", ")}\n`);
    return 0;
  }
  return await dispatch(VERBS[face], io);
}
