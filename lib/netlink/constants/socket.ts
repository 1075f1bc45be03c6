/** Constants of `bits/socket.h` and `asm-generic/socket.h`. @module */

export const AF_UNSPEC = 0;
export const AF_INET = 2;
export const AF_INET6 = 10;

export const SOCK_NONBLOCK = 0o4000;
export const SOCK_CLOEXEC = 0o2000000;

export const SOL_SOCKET = 1;
/** Sets the receive buffer past `net.core.rmem_max`; needs `CAP_NET_ADMIN`. */
export const SO_RCVBUFFORCE = 33;
