/**
 * The same request made by `ip`, `tc` or `nft` and by us.
 *
 * `tools/capture_netlink.ts` runs the commands in a new namespace under strace and stores what
 * they send; `golden_test.ts` compares.
 */

import { ADDRESS_CASES } from "./address_cases.ts";
import type { GoldenCase } from "./case.ts";
import { LINK_CASES } from "./link_cases.ts";
import { READ_CASES } from "./read_cases.ts";
import { ROUTE_CASES, RULE_CASES } from "./route_cases.ts";
import { TRAFFIC_CASES } from "./traffic_cases.ts";

/** Every comparison. */
export const GOLDEN_CASES: readonly GoldenCase[] = [
  ...LINK_CASES,
  ...ADDRESS_CASES,
  ...ROUTE_CASES,
  ...RULE_CASES,
  ...TRAFFIC_CASES,
  ...READ_CASES,
];
