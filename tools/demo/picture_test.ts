import { assertEquals } from "@std/assert";
import { drawPath } from "./picture.ts";

Deno.test("drawPath() joins the pods' interfaces with those of the node", () => {
  const pod = { gateway: "10.0.0.1", interfaceName: "eth0" };
  const lines = drawPath(
    { ...pod, name: "pod-a", address: "10.0.0.2/24", hostInterface: "hcni1" },
    { ...pod, name: "pod-b", address: "10.0.0.3/24", hostInterface: "hcni22" },
  );
  assertEquals(lines, [
    "┌─────────────┐    ┌─────────────────────────────┐    ┌─────────────┐",
    "│ pod-a       │    │ node                        │    │ pod-b       │",
    "│ eth0        ├────┤ hcni1    hcni22             ├────┤ eth0        │",
    "│ 10.0.0.2/24 │    │ 10.0.0.1 10.0.0.1           │    │ 10.0.0.3/24 │",
    "│             │    │   └── routes, nft table ──┘ │    │             │",
    "└─────────────┘    └─────────────────────────────┘    └─────────────┘",
  ]);
});
