/** Constants of `linux/if.h`, `linux/if_link.h`, `linux/if_arp.h` and `linux/veth.h`. @module */

/** `IFNAMSIZ`: room for a name, its final NUL included. */
export const IFNAMSIZ = 16;
/** `IFALIASZ`: longest alias, its final NUL included. */
export const IFALIASZ = 256;

// ifi_flags.
export const IFF_UP = 1 << 0;
export const IFF_BROADCAST = 1 << 1;
export const IFF_LOOPBACK = 1 << 3;
export const IFF_POINTOPOINT = 1 << 4;
export const IFF_RUNNING = 1 << 6;
export const IFF_NOARP = 1 << 7;
export const IFF_PROMISC = 1 << 8;
export const IFF_ALLMULTI = 1 << 9;
export const IFF_MULTICAST = 1 << 12;
export const IFF_LOWER_UP = 1 << 16;

export const ARPHRD_ETHER = 1;
export const ARPHRD_LOOPBACK = 772;

// Link attributes.
export const IFLA_ADDRESS = 1;
export const IFLA_BROADCAST = 2;
export const IFLA_IFNAME = 3;
export const IFLA_MTU = 4;
export const IFLA_LINK = 5;
export const IFLA_MASTER = 10;
export const IFLA_TXQLEN = 13;
export const IFLA_OPERSTATE = 16;
export const IFLA_LINKINFO = 18;
export const IFLA_NET_NS_PID = 19;
export const IFLA_IFALIAS = 20;
export const IFLA_NET_NS_FD = 28;
export const IFLA_EXT_MASK = 29;
export const IFLA_LINK_NETNSID = 37;
export const IFLA_ALT_IFNAME = 53;

/** `RTEXT_FILTER_SKIP_STATS`: leave counters out of dumps. */
export const RTEXT_FILTER_SKIP_STATS = 1 << 3;

// Attributes inside IFLA_LINKINFO.
export const IFLA_INFO_KIND = 1;
export const IFLA_INFO_DATA = 2;

/** Inside IFLA_INFO_DATA of a veth: the peer as `ifinfomsg` and attributes. */
export const VETH_INFO_PEER = 1;

// Inside IFLA_INFO_DATA of a bridge.
export const IFLA_BR_FORWARD_DELAY = 1;
export const IFLA_BR_STP_STATE = 5;
export const IFLA_BR_VLAN_FILTERING = 7;

/** IFLA_OPERSTATE by value, RFC 2863. */
export const OPER_STATES = [
  "unknown",
  "notpresent",
  "down",
  "lowerlayerdown",
  "testing",
  "dormant",
  "up",
] as const;
