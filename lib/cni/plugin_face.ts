/**
 * The face a container runtime sees: one call, one verb, one JSON value.
 *
 * Everything below is imported statically. The build makes one script with a code cache of it
 * (`tools/build/plugin_script.ts`), where a function that is not called costs next to nothing,
 * and a module that is loaded later has to be wrapped in two functions.
 */

import { setEmbeddedFiles } from "../sys/embedded_file.ts";
import { tellOthers } from "./afterwards.ts";
import { delAny, gcAny } from "./chain/others.ts";
import { add as chainAdd } from "./chain/run_add.ts";
import { check as chainCheck } from "./chain/run_check.ts";
import { del as chainDel } from "./chain/run_del.ts";
import { gc as chainGc } from "./chain/run_gc.ts";
import { status as chainStatus } from "./chain/run_status.ts";
import * as ipam from "./ipam_verbs.ts";
import { add } from "./native/add.ts";
import { check } from "./native/check.ts";
import { status } from "./native/status.ts";
import { dispatch, type PluginCall, type PluginIo, type Verb, type VerbTable } from "./dispatch.ts";
import { SUPPORTED_VERSIONS } from "./version.ts";

/** Which plugin was called: the network plugin, or the IPAM plugin under its own name. */
export type PluginFace = "main" | "ipam";

/** The verb of a chain if the configuration names other plugins, else our own. */
function either<C extends PluginCall>(chain: Verb<C>, own: Verb<C>): Verb<C> {
  return (call) => {
    const { delegate, plugins } = call.config.raw;
    return (delegate ?? plugins ?? undefined) === undefined ? own(call) : chain(call);
  };
}

const VERBS: Readonly<Record<PluginFace, VerbTable>> = {
  main: {
    ADD: { since: "0.1.0", about: "ADD", run: either(chainAdd, add) },
    DEL: { since: "0.1.0", about: "DEL", run: either(chainDel, delAny) },
    CHECK: { since: "0.4.0", about: "CHECK", run: either(chainCheck, check) },
    GC: { since: "1.1.0", run: either(chainGc, gcAny) },
    STATUS: { since: "1.1.0", run: either(chainStatus, status) },
  },
  ipam: {
    ADD: { since: "0.1.0", about: "ADD", run: ipam.add },
    DEL: { since: "0.1.0", about: "DEL", run: ipam.del },
    CHECK: { since: "0.4.0", about: "CHECK", run: ipam.check },
    GC: { since: "1.1.0", run: ipam.gc },
    STATUS: { since: "1.1.0", run: ipam.status },
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
