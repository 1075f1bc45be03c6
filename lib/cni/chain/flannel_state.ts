/**
 * What flannel's plugin left of the pods it attached: the configuration of its delegate in
 * `<dataDir>/<container id>`, for its DEL. With it, pods from before the switch can be deleted.
 */

import { FileError } from "../../sys/file_error.ts";
import { denoFiles, type Files } from "../../sys/files.ts";
import { failpoint } from "../../sys/failpoint.ts";
import { isJsonObject, type JsonObject } from "../../sys/json_reader.ts";
import { findVersion, OLDEST_VERSION } from "../version.ts";
import { type Budget } from "./budget.ts";
import { type ChainElement } from "./element.ts";
import { flannelDirectory } from "./flannel_directory.ts";
import { previousFor, type VersionedResult } from "./previous_result.ts";
import { callElement, type ChainContext, type Target } from "./run_element.ts";

/** A saved configuration. */
export interface SavedDelegate {
  readonly path: string;
  readonly element: ChainElement;
}

/** The configuration flannel saved for a container; `undefined` if there is none to be used. */
export function savedDelegate(
  target: Pick<Target, "containerId" | "netns">,
  options: { raw: JsonObject; context: ChainContext; files?: Pick<Files, "readText"> },
): SavedDelegate | undefined {
  const { raw, context, files = denoFiles } = options;
  const path = `${flannelDirectory(raw)}/${context.platform.flannelName(target)}`;
  try {
    const config: unknown = JSON.parse(files.readText(path));
    if (isJsonObject(config) && typeof config.type === "string") {
      return { path, element: savedElement(config.type, config) };
    }
    warn(context, `${path} is no configuration of a plugin`);
  } catch (error) {
    if (error instanceof FileError && ["NotFound", "IsDirectory"].includes(error.code)) {
      return undefined;
    }
    // Power was lost while it was written: there is nothing in it to go by.
    if (!(error instanceof SyntaxError)) throw error;
    warn(context, `${path} is damaged`);
  }
  return undefined;
}

function savedElement(type: string, config: JsonObject): ChainElement {
  const written = typeof config.cniVersion === "string" ? config.cniVersion : "";
  return {
    position: 0,
    type,
    label: `${type} (saved by flannel)`,
    version: findVersion(written) ?? OLDEST_VERSION,
    config,
  };
}

function warn({ io }: ChainContext, text: string): void {
  io.stderr.write(`headcni: ${text}, it is left as it is\n`);
}

/** DEL with what flannel saved; its file goes when the plugin has succeeded. @throws {DelegateError} */
export async function deleteSaved(
  { path, element }: SavedDelegate,
  options: {
    context: ChainContext;
    target: Target;
    budget: Budget;
    previous: VersionedResult | undefined;
    files?: Pick<Files, "remove">;
  },
): Promise<void> {
  const { context, target, budget, previous, files = denoFiles } = options;
  const more = previousFor(element, "DEL", previous);
  const timeoutMs = budget.share(1);
  await callElement(element, { command: "DEL", target, more, timeoutMs }, context);
  failpoint("chain.flannel.run");
  files.remove(path);
}

/** The containers of a network that flannel has saved something for. */
export function savedContainers(
  network: string,
  options: { raw: JsonObject; context: ChainContext; files?: Pick<Files, "readText" | "list"> },
): { containerId: string; saved: SavedDelegate }[] {
  const { files = denoFiles } = options;
  return listFiles(flannelDirectory(options.raw), files).flatMap((containerId) => {
    const saved = savedDelegate({ containerId, netns: "" }, options);
    // Others may use flannel still, for networks of their own.
    return saved?.element.config.name === network ? [{ containerId, saved }] : [];
  });
}

function listFiles(directory: string, files: Pick<Files, "list">): string[] {
  try {
    return files.list(directory).filter(({ kind }) => kind === "file").map(({ name }) => name);
  } catch (error) {
    if (error instanceof FileError && error.code === "NotFound") return [];
    throw error;
  }
}
