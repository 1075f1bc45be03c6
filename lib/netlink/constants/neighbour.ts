/** Constants of `linux/neighbour.h`. @module */

// Neighbour attributes.
export const NDA_DST = 1;
export const NDA_LLADDR = 2;
export const NDA_IFINDEX = 8;

// ndm_flags.
export const NTF_PROXY = 1 << 3;
export const NTF_ROUTER = 1 << 7;

// ndm_state.
export const NUD_INCOMPLETE = 0x01;
export const NUD_REACHABLE = 0x02;
export const NUD_STALE = 0x04;
export const NUD_DELAY = 0x08;
export const NUD_PROBE = 0x10;
export const NUD_FAILED = 0x20;
export const NUD_NOARP = 0x40;
export const NUD_PERMANENT = 0x80;
