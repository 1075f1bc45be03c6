/** Policy routing rules: which packets look into which table. */

import type { Family, Prefix } from "../ip/mod.ts";
import { toPrefix } from "./address.ts";
import type { AttributeDecoder, Draft } from "./attribute_decoder.ts";
import type { NetlinkConnection } from "./connection.ts";
import {
  FIB_RULE_INVERT,
  FR_ACT_TO_TBL,
  FRA_DST,
  FRA_FWMARK,
  FRA_FWMASK,
  FRA_IIFNAME,
  FRA_OIFNAME,
  FRA_PRIORITY,
  FRA_PROTOCOL,
  FRA_SRC,
  FRA_SUPPRESS_PREFIXLEN,
  FRA_TABLE,
} from "./constants/fib_rules.ts";
import { NLM_F_CREATE, NLM_F_EXCL } from "./constants/netlink.ts";
import { RT_TABLE_UNSPEC, RTM_DELRULE, RTM_GETRULE, RTM_NEWRULE } from "./constants/rtnetlink.ts";
import { toAddressFamily, toFamily } from "./family.ts";
import { checkLinkName } from "./link_name.ts";
import type { Message } from "./message.ts";
import { PayloadEncoder } from "./payload_encoder.ts";
import type { Request } from "./request.ts";

/** A rule to add or delete. */
export interface RuleSpec {
  readonly family: Family;
  /** The lower, the earlier. */
  readonly priority: number;
  /** Table to look into; needed to add, optional to delete. */
  readonly table?: number;
  /** Packets from here. */
  readonly source?: Prefix;
  /** Packets to here. */
  readonly destination?: Prefix;
  /** Packets that came in by this link. */
  readonly inputName?: string;
  /** Packets of local sockets bound to this link. */
  readonly outputName?: string;
  /** Packets with this mark … */
  readonly mark?: number;
  /** … in these bits. */
  readonly markMask?: number;
  /** Ignore routes with a prefix of this length or less. */
  readonly suppressPrefixLength?: number;
  /** Packets that do *not* match. */
  readonly invert?: boolean;
  /** `RTPROT_*`, who made the rule. */
  readonly protocol?: number;
}

/** A rule found in the kernel. */
export interface Rule {
  readonly family: Family;
  readonly priority: number;
  readonly table: number;
  /** `FR_ACT_*`. */
  readonly action: number;
  readonly source: Prefix | undefined;
  readonly destination: Prefix | undefined;
  readonly inputName: string | undefined;
  readonly outputName: string | undefined;
  readonly mark: number | undefined;
  readonly markMask: number | undefined;
  readonly suppressPrefixLength: number | undefined;
  readonly invert: boolean;
  readonly protocol: number;
}

/** `sizeof(struct fib_rule_hdr)`. */
const HEADER_BYTES = 12;
/** FRA_SUPPRESS_PREFIXLEN of a rule that suppresses nothing. */
const SUPPRESS_NONE = 0xffffffff;

/**
 * Fails with `EEXIST` for an equal rule. ≈ `ip [-6] rule add priority PRIORITY [from PREFIX]
 * [to PREFIX] lookup TABLE`
 */
export function addRule(spec: RuleSpec & { readonly table: number }): Request {
  return change("add rule", spec, RTM_NEWRULE, NLM_F_CREATE | NLM_F_EXCL);
}

/** Deletes the first rule that has all that is given. ≈ `ip [-6] rule del priority PRIORITY` */
export function deleteRule(spec: RuleSpec): Request {
  return change("delete rule", spec, RTM_DELRULE, 0);
}

/** ≈ `ip [-6] rule show` */
export function listRules(
  connection: NetlinkConnection,
  filter: { readonly family?: Family } = {},
): Rule[] {
  const request: Request = {
    operation: "list rules",
    type: RTM_GETRULE,
    flags: 0,
    payload: new PayloadEncoder().putU32(toAddressFamily(filter.family)).putU32(0).putU32(0)
      .finish(),
  };
  return connection.dump(request, decodeRule);
}

/** The rule a message describes; `undefined` for families other than IP. */
export function decodeRule(message: Message): Rule | undefined {
  const attributes = message.attributes(HEADER_BYTES);
  const { view, start } = message;
  const family = toFamily(view.getUint8(start));
  if (family === undefined) return undefined;
  const destinationLength = view.getUint8(start + 1);
  const sourceLength = view.getUint8(start + 2);
  const rule: Draft<Rule> = {
    family,
    priority: 0,
    table: view.getUint8(start + 4),
    action: view.getUint8(start + 7),
    source: undefined,
    destination: undefined,
    inputName: undefined,
    outputName: undefined,
    mark: undefined,
    markMask: undefined,
    suppressPrefixLength: undefined,
    invert: (view.getUint32(start + 8, true) & FIB_RULE_INVERT) !== 0,
    protocol: 0,
  };
  while (attributes.next()) {
    if (attributes.type === FRA_SRC) rule.source = toPrefix(attributes.address(), sourceLength);
    else if (attributes.type === FRA_DST) {
      rule.destination = toPrefix(attributes.address(), destinationLength);
    } else readAttribute(rule, attributes);
  }
  return rule;
}

function readAttribute(rule: Draft<Rule>, attribute: AttributeDecoder): void {
  switch (attribute.type) {
    case FRA_PRIORITY:
      rule.priority = attribute.u32();
      break;
    case FRA_TABLE:
      rule.table = attribute.u32();
      break;
    case FRA_IIFNAME:
      rule.inputName = attribute.string();
      break;
    case FRA_OIFNAME:
      rule.outputName = attribute.string();
      break;
    case FRA_FWMARK:
      rule.mark = attribute.u32();
      break;
    case FRA_FWMASK:
      rule.markMask = attribute.u32();
      break;
    case FRA_SUPPRESS_PREFIXLEN: {
      const length = attribute.u32();
      if (length !== SUPPRESS_NONE) rule.suppressPrefixLength = length;
      break;
    }
    case FRA_PROTOCOL:
      rule.protocol = attribute.u8();
      break;
  }
}

function change(operation: string, spec: RuleSpec, type: number, flags: number): Request {
  const { family, priority, table = RT_TABLE_UNSPEC, source, destination } = spec;
  const encoder = new PayloadEncoder()
    .putU8(toAddressFamily(family))
    .putU8(destination?.length ?? 0)
    .putU8(source?.length ?? 0)
    .putU8(0) // type of service
    .putU8(table > 0xff ? RT_TABLE_UNSPEC : table)
    .putU16(0)
    // Zero matches every action when deleting.
    .putU8(table === RT_TABLE_UNSPEC ? 0 : FR_ACT_TO_TBL)
    .putU32(spec.invert ? FIB_RULE_INVERT : 0)
    .u32(FRA_PRIORITY, priority);
  if (source !== undefined) encoder.address(FRA_SRC, source.network);
  if (destination !== undefined) encoder.address(FRA_DST, destination.network);
  if (spec.inputName !== undefined) {
    encoder.string(FRA_IIFNAME, checkLinkName(operation, spec.inputName));
  }
  if (spec.outputName !== undefined) {
    encoder.string(FRA_OIFNAME, checkLinkName(operation, spec.outputName));
  }
  if (spec.mark !== undefined) encoder.u32(FRA_FWMARK, spec.mark);
  if (spec.markMask !== undefined) encoder.u32(FRA_FWMASK, spec.markMask);
  if (spec.suppressPrefixLength !== undefined) {
    encoder.u32(FRA_SUPPRESS_PREFIXLEN, spec.suppressPrefixLength);
  }
  if (spec.protocol !== undefined) encoder.u8(FRA_PROTOCOL, spec.protocol);
  if (table > 0xff) encoder.u32(FRA_TABLE, table);
  const subject = () => describe(spec);
  return { operation, subject, type, flags, payload: encoder.finish() };
}

function describe(spec: RuleSpec): string {
  const parts = [`${spec.priority}:`];
  if (spec.source !== undefined) parts.push(`from ${spec.source}`);
  if (spec.destination !== undefined) parts.push(`to ${spec.destination}`);
  if (spec.table !== undefined) parts.push(`lookup ${spec.table}`);
  return parts.length === 1 ? `${spec.priority}` : parts.join(" ");
}
