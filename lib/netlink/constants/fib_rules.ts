/** Constants of `linux/fib_rules.h`. @module */

// Rule attributes.
export const FRA_DST = 1;
export const FRA_SRC = 2;
export const FRA_IIFNAME = 3;
export const FRA_PRIORITY = 6;
export const FRA_FWMARK = 10;
export const FRA_SUPPRESS_PREFIXLEN = 14;
export const FRA_TABLE = 15;
export const FRA_FWMASK = 16;
export const FRA_OIFNAME = 17;
export const FRA_PROTOCOL = 21;

// Actions.
export const FR_ACT_TO_TBL = 1;
export const FR_ACT_GOTO = 2;
export const FR_ACT_NOP = 3;
export const FR_ACT_BLACKHOLE = 6;
export const FR_ACT_UNREACHABLE = 7;
export const FR_ACT_PROHIBIT = 8;

// Flags.
export const FIB_RULE_INVERT = 0x2;
