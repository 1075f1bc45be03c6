/** The way a packet takes from one pod to the other, with the names and addresses there are. */

import { box } from "./text_table.ts";

/** One pod as the result of its ADD tells it. */
export interface PodPicture {
  readonly name: string;
  /** With the length of the subnet. */
  readonly address: string;
  readonly gateway: string;
  readonly interfaceName: string;
  /** The other end of the cable. */
  readonly hostInterface: string;
}

/** Between two boxes; narrow, so that all three fit into 80 columns. */
const CABLE = "────";

/** The row at which the cables enter a box: that of the interface names. */
const CABLE_ROW = 2;

/**
 * Draws two pods and the node between them.
 *
 * @example
 * ```ts
 * import { drawPath } from "./picture.ts";
 * import { assertStringIncludes } from "@std/assert";
 *
 * const pod = { gateway: "10.0.0.1", interfaceName: "eth0" };
 * const lines = drawPath(
 *   { ...pod, name: "pod-a", address: "10.0.0.2/24", hostInterface: "hcni1" },
 *   { ...pod, name: "pod-b", address: "10.0.0.3/24", hostInterface: "hcni2" },
 * );
 * assertStringIncludes(lines[2] ?? "", "├────┤ hcni1");
 * ```
 */
export function drawPath(left: PodPicture, right: PodPicture): string[] {
  const width = Math.max(left.hostInterface.length, left.gateway.length) + 1;
  const node = [
    "node",
    left.hostInterface.padEnd(width) + right.hostInterface,
    left.gateway.padEnd(width) + right.gateway,
    "  └── routes, nft table ──┘",
  ];
  return join([podBox(left), box(node), podBox(right)]);
}

function podBox({ name, interfaceName, address }: PodPicture): string[] {
  return box([name, interfaceName, address, ""]);
}

/** Boxes of the same height in a row. */
function join(boxes: readonly (readonly string[])[]): string[] {
  return (boxes[0] ?? []).map((_, row) => {
    const cells = boxes.map((lines) => lines[row] ?? "");
    if (row !== CABLE_ROW) return cells.join(" ".repeat(CABLE.length));
    return cells.map((line, index) =>
      `${index > 0 ? "┤" : "│"}${line.slice(1, -1)}${index < cells.length - 1 ? "├" : "│"}`
    ).join(CABLE);
  });
}
