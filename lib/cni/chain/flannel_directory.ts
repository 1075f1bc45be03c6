/** Where flannel's plugin keeps its state; on its own, since every DEL looks there. */

import { type JsonObject } from "../../sys/json_reader.ts";

const DEFAULT_DIRECTORY = "/var/lib/cni/flannel";

/** `flannelDataDir`, else flannel's default. */
export function flannelDirectory({ flannelDataDir }: JsonObject): string {
  return typeof flannelDataDir === "string" && flannelDataDir !== ""
    ? flannelDataDir
    : DEFAULT_DIRECTORY;
}
