/** Constants of `linux/netlink.h`. @module */

// Protocols: the third argument of socket(AF_NETLINK, …).
export const NETLINK_ROUTE = 0;
export const NETLINK_NETFILTER = 12;

// Socket options at level SOL_NETLINK.
export const NETLINK_CAP_ACK = 10;
export const NETLINK_EXT_ACK = 11;
export const NETLINK_GET_STRICT_CHK = 12;

/** `sizeof(struct nlmsghdr)`. */
export const NLMSG_HDRLEN = 16;
/** `sizeof(struct nlattr)`. */
export const NLA_HDRLEN = 4;

// Control message types, below NLMSG_MIN_TYPE.
export const NLMSG_NOOP = 0x1;
export const NLMSG_ERROR = 0x2;
export const NLMSG_DONE = 0x3;
export const NLMSG_OVERRUN = 0x4;
export const NLMSG_MIN_TYPE = 0x10;

// nlmsg_flags: general.
export const NLM_F_REQUEST = 0x01;
export const NLM_F_MULTI = 0x02;
export const NLM_F_ACK = 0x04;
export const NLM_F_ECHO = 0x08;
export const NLM_F_DUMP_INTR = 0x10;
export const NLM_F_DUMP_FILTERED = 0x20;

// nlmsg_flags: GET requests.
export const NLM_F_ROOT = 0x100;
export const NLM_F_MATCH = 0x200;
export const NLM_F_DUMP = NLM_F_ROOT | NLM_F_MATCH;

// nlmsg_flags: NEW requests.
export const NLM_F_REPLACE = 0x100;
export const NLM_F_EXCL = 0x200;
export const NLM_F_CREATE = 0x400;
export const NLM_F_APPEND = 0x800;

// nlmsg_flags: NLMSG_ERROR replies.
export const NLM_F_CAPPED = 0x100;
export const NLM_F_ACK_TLVS = 0x200;

// Attributes of an extended acknowledgement.
export const NLMSGERR_ATTR_MSG = 1;
export const NLMSGERR_ATTR_OFFS = 2;
export const NLMSGERR_ATTR_MISS_TYPE = 5;

// Bits of nla_type.
export const NLA_F_NESTED = 1 << 15;
export const NLA_F_NET_BYTEORDER = 1 << 14;
export const NLA_TYPE_MASK = 0x3fff;
