/** STATUS: whether an ADD would work now. Changes nothing. */

import { findNft } from "../../firewall/nft_program.ts";
import { HeadcniError } from "../../sys/errors.ts";
import { addressSource } from "../choose_address_source.ts";
import { type PluginCall } from "../dispatch.ts";
import { NotReadyError } from "../errors.ts";
import { ipamRequest } from "../ipam_request.ts";
import { readPluginConfig } from "../plugin_config.ts";

/** Carries out STATUS. @throws {NotReadyError} saying what is missing. */
export async function status(call: PluginCall): Promise<void> {
  const config = readPluginConfig(call.config);
  if (config.ipam === undefined) {
    throw new NotReadyError({
      operation: "serve ADD",
      reason: "the configuration has neither pod_cidr nor ipam",
      remedy: "Start headcni daemon, which writes it, or write it yourself",
    });
  }
  const request = { ...ipamRequest(call), config: { ...call.config.raw, ipam: config.ipam } };
  await addressSource(config.ipam).status(request);
  try {
    findNft();
  } catch (error) {
    if (!(error instanceof HeadcniError)) throw error;
    const remedy = error.remedy === undefined ? {} : { remedy: error.remedy };
    throw new NotReadyError({ operation: "serve ADD", reason: error.message, ...remedy });
  }
}
