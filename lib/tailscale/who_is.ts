/** The owner of a tailnet address (`apitype.WhoIsResponse` of Tailscale). */

import { parseJsonView } from "../sys/json_view.ts";

/** Who an address belongs to. */
export interface WhoIs {
  /** With Headscale, the node id in decimal. */
  readonly nodeId: string;
  readonly nodeName: string;
  readonly tags: readonly string[];
  /** Of the user it belongs to; tagged nodes have a made-up one. */
  readonly loginName: string;
}

/** The owner in the JSON `text`. @throws {JsonShapeError} */
export function parseWhoIs(text: string): WhoIs {
  const view = parseJsonView(text, "the owner of an address");
  const node = view.required("Node");
  return {
    // Not `ID`: it is a number that JavaScript may round.
    nodeId: node.text("StableID"),
    nodeName: node.optionalText("Name") ?? "",
    tags: node.texts("Tags"),
    loginName: view.object("UserProfile")?.optionalText("LoginName") ?? "",
  };
}
