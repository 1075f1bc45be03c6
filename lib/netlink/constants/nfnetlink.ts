/**
 * Constants of `linux/netfilter/nfnetlink.h`, `nfnetlink_conntrack.h`, `nf_tables.h` and
 * `linux/netfilter.h`.
 *
 * @module
 */

// A message type is subsystem << 8 | message.
export const NFNL_SUBSYS_CTNETLINK = 1;
export const NFNL_SUBSYS_NFTABLES = 10;
export const NFNL_MSG_BATCH_BEGIN = 0x10;
export const NFNL_MSG_BATCH_END = 0x11;
export const NFNETLINK_V0 = 0;

// Conntrack messages.
export const IPCTNL_MSG_CT_NEW = 0;
export const IPCTNL_MSG_CT_GET = 1;
export const IPCTNL_MSG_CT_DELETE = 2;

// Conntrack attributes.
export const CTA_TUPLE_ORIG = 1;
export const CTA_TUPLE_REPLY = 2;
export const CTA_MARK = 8;
export const CTA_ID = 12;
export const CTA_ZONE = 18;
export const CTA_FILTER = 25;

// Inside a tuple.
export const CTA_TUPLE_IP = 1;
export const CTA_TUPLE_PROTO = 2;

// Inside CTA_FILTER.
export const CTA_FILTER_ORIG_FLAGS = 1;
export const CTA_FILTER_REPLY_FLAGS = 2;

// Which parts of a tuple count; `net/netfilter/nf_conntrack_netlink.c`.
export const CTA_FILTER_F_CTA_IP_SRC = 1 << 0;
export const CTA_FILTER_F_CTA_IP_DST = 1 << 1;

// Inside CTA_TUPLE_IP.
export const CTA_IP_V4_SRC = 1;
export const CTA_IP_V4_DST = 2;
export const CTA_IP_V6_SRC = 3;
export const CTA_IP_V6_DST = 4;

// Inside CTA_TUPLE_PROTO.
export const CTA_PROTO_NUM = 1;
export const CTA_PROTO_SRC_PORT = 2;
export const CTA_PROTO_DST_PORT = 3;

// nftables messages.
export const NFT_MSG_NEWTABLE = 0;
export const NFT_MSG_GETTABLE = 1;
export const NFT_MSG_DELTABLE = 2;
export const NFT_MSG_NEWCHAIN = 3;
export const NFT_MSG_GETCHAIN = 4;
export const NFT_MSG_NEWSET = 9;
export const NFT_MSG_GETSET = 10;
export const NFT_MSG_NEWSETELEM = 12;
export const NFT_MSG_GETSETELEM = 13;
export const NFT_MSG_DELSETELEM = 14;

// Table attributes.
export const NFTA_TABLE_NAME = 1;

// Chain attributes.
export const NFTA_CHAIN_TABLE = 1;
export const NFTA_CHAIN_NAME = 3;
export const NFTA_CHAIN_USE = 6;

// Set attributes.
export const NFTA_SET_TABLE = 1;
export const NFTA_SET_NAME = 2;

// Attributes of a list of set elements.
export const NFTA_SET_ELEM_LIST_TABLE = 1;
export const NFTA_SET_ELEM_LIST_SET = 2;
export const NFTA_SET_ELEM_LIST_ELEMENTS = 3;

/** The type of each member of a nested list. */
export const NFTA_LIST_ELEM = 1;

// Attributes of one set element.
export const NFTA_SET_ELEM_KEY = 1;
export const NFTA_SET_ELEM_DATA = 2;
export const NFTA_SET_ELEM_FLAGS = 3;
export const NFTA_SET_ELEM_TIMEOUT = 4;
export const NFTA_SET_ELEM_USERDATA = 6;
export const NFT_SET_ELEM_INTERVAL_END = 0x1;

/** A type inside NFTA_SET_ELEM_USERDATA, of `libnftnl/udata.h`. */
export const NFTNL_UDATA_SET_ELEM_COMMENT = 0;

// Attributes of nft_data.
export const NFTA_DATA_VALUE = 1;

// Families.
export const NFPROTO_INET = 1;
export const NFPROTO_IPV4 = 2;
export const NFPROTO_ARP = 3;
export const NFPROTO_NETDEV = 5;
export const NFPROTO_BRIDGE = 7;
export const NFPROTO_IPV6 = 10;
