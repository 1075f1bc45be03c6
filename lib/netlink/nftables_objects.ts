/** Tables, chains and sets of nftables by name: what is loaded, and taking a table away. */

import { FAMILIES, type TableReference } from "./nftables.ts";
import type { NetlinkConnection } from "./connection.ts";
import { NFGENMSG_BYTES, putNetfilterHeader } from "./conntrack.ts";
import { NLM_F_CREATE } from "./constants/netlink.ts";
import {
  NFNL_SUBSYS_NFTABLES,
  NFT_MSG_DELTABLE,
  NFT_MSG_GETCHAIN,
  NFT_MSG_GETSET,
  NFT_MSG_NEWTABLE,
  NFTA_CHAIN_NAME,
  NFTA_CHAIN_TABLE,
  NFTA_CHAIN_USE,
  NFTA_SET_NAME,
  NFTA_SET_TABLE,
  NFTA_TABLE_NAME,
} from "./constants/nfnetlink.ts";
import type { Message } from "./message.ts";
import type { PayloadEncoder } from "./payload_encoder.ts";
import type { Request } from "./request.ts";

/** A chain of a table. */
export interface ChainReference extends TableReference {
  readonly chain: string;
}

/**
 * How often each chain is used: its rules, and the jumps to it; `undefined` where there is
 * no such chain. One send for all of them.
 */
export function chainUses(
  connection: NetlinkConnection,
  chains: readonly ChainReference[],
): (number | undefined)[] {
  const requests = chains.map((chain): Request => ({
    operation: "get nftables chain",
    subject: () => `${chain.family} ${chain.table} ${chain.chain}`,
    type: NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETCHAIN,
    flags: 0,
    payload: putNetfilterHeader(FAMILIES[chain.family])
      .string(NFTA_CHAIN_TABLE, chain.table)
      .string(NFTA_CHAIN_NAME, chain.chain).finish(),
  }));
  return connection.exchange(requests).map(({ replies: [reply], error }) => {
    if (error !== undefined && error.code !== "ENOENT") throw error;
    return reply === undefined ? undefined : decodeUse(reply);
  });
}

/** Names of the chains of a table, empty without one. ≈ `nft list chains FAMILY` */
export function listChainNames(connection: NetlinkConnection, table: TableReference): string[] {
  const request = list("list nftables chains", table, NFT_MSG_GETCHAIN);
  return connection.dump(request, (message) => {
    return nameIn(message, table, { table: NFTA_CHAIN_TABLE, name: NFTA_CHAIN_NAME });
  });
}

/**
 * Names of the named sets and maps of a table, empty without one. ≈ `nft list sets FAMILY`
 */
export function listSetNames(connection: NetlinkConnection, table: TableReference): string[] {
  const request = list("list nftables sets", table, NFT_MSG_GETSET);
  return connection.dump(request, (message) => {
    const name = nameIn(message, table, { table: NFTA_SET_TABLE, name: NFTA_SET_NAME });
    // Sets without a name of their own are parts of rules: `__set0`, `__map0`.
    return name?.startsWith("__") ? undefined : name;
  });
}

/**
 * Deletes a table with all it holds; one that is missing is fine, because it is added first.
 * For `commitNftables`. ≈ `nft add table FAMILY TABLE; nft delete table FAMILY TABLE`
 */
export function deleteTable(table: TableReference): Request[] {
  const request = (message: number, flags: number): Request => ({
    operation: "delete nftables table",
    subject: () => `${table.family} ${table.table}`,
    type: NFNL_SUBSYS_NFTABLES << 8 | message,
    flags,
    payload: putNetfilterHeader(FAMILIES[table.family])
      .string(NFTA_TABLE_NAME, table.table).finish(),
  });
  return [request(NFT_MSG_NEWTABLE, NLM_F_CREATE), request(NFT_MSG_DELTABLE, 0)];
}

function list(operation: string, table: TableReference, message: number): Request {
  const header: PayloadEncoder = putNetfilterHeader(FAMILIES[table.family]);
  return {
    operation,
    subject: () => `${table.family} ${table.table}`,
    type: NFNL_SUBSYS_NFTABLES << 8 | message,
    flags: 0,
    payload: header.finish(),
  };
}

/** The object's name, if it is in `table`: the kernel lists the whole family. */
function nameIn(
  message: Message,
  table: TableReference,
  types: { readonly table: number; readonly name: number },
): string | undefined {
  const attributes = message.attributes(NFGENMSG_BYTES);
  let owner = "";
  let name = "";
  while (attributes.next()) {
    if (attributes.type === types.table) owner = attributes.string();
    else if (attributes.type === types.name) name = attributes.string();
  }
  return owner === table.table ? name : undefined;
}

function decodeUse(message: Message): number {
  const attributes = message.attributes(NFGENMSG_BYTES);
  while (attributes.next()) {
    if (attributes.type === NFTA_CHAIN_USE) return attributes.be32();
  }
  return 0;
}
