/**
 * Packets no well-behaved pod would send. In perl, which every Debian has: Deno has no raw
 * sockets.
 */

import { type Namespace } from "./namespace.ts";

/**
 * A router advertisement (RFC 4861, 4.2) from `device` to all nodes: a default router, and a
 * prefix to make addresses from.
 */
const ROUTER_ADVERTISEMENT = `
  use Socket qw(:all);
  my $device = shift;
  open(my $file, "<", "/proc/net/if_inet6") or die;
  my ($index) = map { hex((split)[1]) } grep { /\\b$device$/ } <$file>;
  socket(S, AF_INET6, SOCK_RAW, 58) or die;
  setsockopt(S, 41, 18, pack("i", 255)) or die; # IPV6_MULTICAST_HOPS
  setsockopt(S, 41, 17, pack("i", $index)) or die; # IPV6_MULTICAST_IF
  my $to = pack_sockaddr_in6(0, inet_pton(AF_INET6, "ff02::1"), $index);
  my $head = pack("CCnCCnNN", 134, 0, 0, 64, 0, 1800, 0, 0);
  my $prefix = pack("CCCCNNN", 3, 4, 64, 0xc0, 86400, 14400, 0);
  send(S, $head . $prefix . inet_pton(AF_INET6, "2001:db8:bad::"), 0, $to) or die;`;

/** An ARP request (RFC 826) from `device` in the name of `sender`, for `target`. */
const ARP_REQUEST = `
  use Socket qw(:all);
  my ($device, $sender, $target) = @ARGV;
  open(my $links, "-|", "ip", "-o", "link", "show", $device) or die;
  my $line = <$links>;
  my ($index) = $line =~ /^(\\d+):/;
  my ($mac) = $line =~ /link\\/ether (\\S+)/;
  my $hardware = pack("H12", $mac =~ s/://gr);
  socket(S, 17, SOCK_RAW, 0x0608) or die; # AF_PACKET, ETH_P_ARP in network order
  my $to = pack("SnlSCCa8", 17, 0x0806, $index, 1, 0, 6, "\\xff" x 6);
  my $frame = "\\xff" x 6 . $hardware . pack("n", 0x0806) . pack("nnCCn", 1, 0x0800, 6, 4, 1) .
    $hardware . inet_aton($sender) . "\\0" x 6 . inet_aton($target);
  send(S, $frame, 0, $to) or die;`;

/** Sends a router advertisement out of `device`. */
export async function advertiseRouter(from: Namespace, device: string): Promise<void> {
  await from.run("perl", "-e", ROUTER_ADVERTISEMENT, device);
}

/** Asks for `target` in the name of `sender`. */
export async function askInNameOf(
  from: Namespace,
  packet: { readonly device: string; readonly sender: string; readonly target: string },
): Promise<void> {
  await from.run("perl", "-e", ARP_REQUEST, packet.device, packet.sender, packet.target);
}
