/**
 * Constants of `linux/pkt_sched.h`, `linux/pkt_cls.h`, `linux/tc_act/tc_mirred.h` and
 * `linux/if_ether.h`.
 *
 * @module
 */

// tcm_handle and tcm_parent: major number in the upper half.
export const TC_H_ROOT = 0xffffffff;
export const TC_H_INGRESS = 0xfffffff1;
/** The handle `tc` gives an ingress qdisc: `ffff:`. */
export const TC_H_INGRESS_HANDLE = 0xffff0000;

/** `TC_LINKLAYER_ETHERNET`. */
export const TC_LINKLAYER_ETHERNET = 1;

// Options of a token bucket filter.
export const TCA_TBF_PARMS = 1;
export const TCA_TBF_RATE64 = 4;
export const TCA_TBF_BURST = 6;

// Options of a u32 filter.
export const TCA_U32_SEL = 5;
export const TCA_U32_ACT = 7;
export const TC_U32_TERMINAL = 1;

// Options of an action.
export const TCA_ACT_KIND = 1;
export const TCA_ACT_OPTIONS = 2;
export const TC_ACT_STOLEN = 4;

// Options of mirred.
export const TCA_MIRRED_PARMS = 2;
export const TCA_EGRESS_REDIR = 1;

/** `ETH_P_ALL`: every protocol. */
export const ETH_P_ALL = 0x0003;
