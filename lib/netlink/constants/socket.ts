/** Constants of `bits/socket.h` and `bits/socket_type.h`. @module */

export const AF_UNSPEC = 0;
export const AF_UNIX = 1;
export const AF_INET = 2;
export const AF_INET6 = 10;

export const SOCK_DGRAM = 2;
export const SOCK_NONBLOCK = 0o4000;
export const SOCK_CLOEXEC = 0o2000000;

/** Never wait. */
export const MSG_DONTWAIT = 0x40;
/** No SIGPIPE. */
export const MSG_NOSIGNAL = 0x4000;
