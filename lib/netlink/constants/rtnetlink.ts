/** Constants of `linux/rtnetlink.h`. @module */

// Message types.
export const RTM_NEWLINK = 16;
export const RTM_DELLINK = 17;
export const RTM_GETLINK = 18;
export const RTM_SETLINK = 19;
export const RTM_NEWADDR = 20;
export const RTM_DELADDR = 21;
export const RTM_GETADDR = 22;
export const RTM_NEWROUTE = 24;
export const RTM_DELROUTE = 25;
export const RTM_GETROUTE = 26;
export const RTM_NEWNEIGH = 28;
export const RTM_DELNEIGH = 29;
export const RTM_GETNEIGH = 30;
export const RTM_NEWRULE = 32;
export const RTM_DELRULE = 33;
export const RTM_GETRULE = 34;
export const RTM_NEWQDISC = 36;
export const RTM_DELQDISC = 37;
export const RTM_GETQDISC = 38;
export const RTM_NEWTCLASS = 40;
export const RTM_DELTCLASS = 41;
export const RTM_GETTCLASS = 42;
export const RTM_NEWTFILTER = 44;
export const RTM_DELTFILTER = 45;
export const RTM_GETTFILTER = 46;

// Multicast groups as bits of nl_groups: 1 << (RTNLGRP_* - 1).
export const RTMGRP_LINK = 1 << 0;
export const RTMGRP_IPV4_IFADDR = 1 << 4;
export const RTMGRP_IPV4_ROUTE = 1 << 6;
export const RTMGRP_IPV4_RULE = 1 << 7;
export const RTMGRP_IPV6_IFADDR = 1 << 8;
export const RTMGRP_IPV6_ROUTE = 1 << 10;
export const RTMGRP_IPV6_RULE = 1 << 18;

// rtm_type.
export const RTN_UNICAST = 1;
export const RTN_LOCAL = 2;
export const RTN_BROADCAST = 3;
export const RTN_ANYCAST = 4;
export const RTN_MULTICAST = 5;
export const RTN_BLACKHOLE = 6;
export const RTN_UNREACHABLE = 7;
export const RTN_PROHIBIT = 8;
export const RTN_THROW = 9;

// rtm_protocol: who made the route.
export const RTPROT_UNSPEC = 0;
export const RTPROT_KERNEL = 2;
export const RTPROT_BOOT = 3;
export const RTPROT_STATIC = 4;
/** Learned from a router advertisement. */
export const RTPROT_RA = 9;

// rtm_scope and ifa_scope.
export const RT_SCOPE_UNIVERSE = 0;
export const RT_SCOPE_SITE = 200;
export const RT_SCOPE_LINK = 253;
export const RT_SCOPE_HOST = 254;
export const RT_SCOPE_NOWHERE = 255;

// rtm_flags.
export const RTM_F_CLONED = 0x200;
export const RTM_F_LOOKUP_TABLE = 0x1000;

// Well-known tables.
export const RT_TABLE_UNSPEC = 0;
export const RT_TABLE_COMPAT = 252;
export const RT_TABLE_DEFAULT = 253;
export const RT_TABLE_MAIN = 254;
export const RT_TABLE_LOCAL = 255;

// Route attributes.
export const RTA_DST = 1;
export const RTA_SRC = 2;
export const RTA_IIF = 3;
export const RTA_OIF = 4;
export const RTA_GATEWAY = 5;
export const RTA_PRIORITY = 6;
export const RTA_PREFSRC = 7;
export const RTA_METRICS = 8;
export const RTA_MULTIPATH = 9;
export const RTA_TABLE = 15;
export const RTA_MARK = 16;
export const RTA_VIA = 18;

// rtnh_flags, also in rtm_flags.
export const RTNH_F_DEAD = 1;
export const RTNH_F_ONLINK = 4;
export const RTNH_F_LINKDOWN = 16;

// Attributes inside RTA_METRICS.
export const RTAX_MTU = 2;
export const RTAX_ADVMSS = 8;

// Traffic control attributes.
export const TCA_KIND = 1;
export const TCA_OPTIONS = 2;
