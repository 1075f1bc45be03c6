/** What every test of this folder needs from the machine. */

import { requires, root, tool } from "../requires.ts";

/** Options of a test that calls the plugin in namespaces of its own. */
export const NEEDS: { readonly ignore: boolean } = requires(
  root,
  tool("ip", "iproute2"),
  tool("tc", "iproute2"),
  tool("nft", "nftables"),
  tool("nsenter", "util-linux"),
  tool("perl", "perl-base"),
  tool("ping", "iputils-ping"),
  tool("sysctl", "procps"),
);
