/** Constants of `linux/sched.h`, `linux/nsfs.h`, `linux/mount.h` and `asm-generic/fcntl.h`. @module */

export const CLONE_NEWNET = 0x40000000;

/** `_IO(0xb7, 0x3)`: asks a namespace file for its CLONE_NEW* type. */
export const NS_GET_NSTYPE = 0xb703;

export const O_RDONLY = 0;
export const O_NONBLOCK = 0o4000;
export const O_CLOEXEC = 0o2000000;

export const MS_BIND = 4096;
/** Detach now, clean up when the last user goes. */
export const MNT_DETACH = 2;

export const MFD_CLOEXEC = 1;

export const MS_REC = 16384;
export const MS_SHARED = 1 << 20;
