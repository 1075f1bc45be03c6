/** Everything that crosses the underlay, seen as somebody with a tap would. */

import type { Sandbox } from "../netlink/fixture.ts";

/**
 * Prints one line for each IP packet on any interface of the namespace: `SOURCE DESTINATION
 * PROTOCOL`, and `!` in front if it holds the secret text.
 */
const SCRIPT = `
  use Socket qw(:all);
  my $text = shift;
  socket(S, 17, SOCK_RAW, 0x0300) or die; # AF_PACKET, ETH_P_ALL in network order
  setsockopt(S, SOL_SOCKET, 33, pack("i", 1 << 24)); # SO_RCVBUFFORCE
  $| = 1;
  print "ready\\n";
  while (defined(recv(S, my $frame, 65536, 0))) {
    my $type = unpack("n", substr($frame, 12, 2));
    my $packet = substr($frame, 14);
    my $mark = index($frame, $text) >= 0 ? "!" : "";
    if ($type == 0x0800) {
      my ($protocol, $source, $destination) = unpack("x9 C x2 a4 a4", $packet);
      print $mark, inet_ntoa($source), " ", inet_ntoa($destination), " $protocol\\n";
    } elsif ($type == 0x86dd) {
      my ($protocol, $source, $destination) = unpack("x6 C x a16 a16", $packet);
      print $mark, inet_ntop(AF_INET6, $source), " ", inet_ntop(AF_INET6, $destination),
        " $protocol\\n";
    }
  }`;

/** One kind of packet that was seen. */
export interface Seen {
  readonly source: string;
  readonly destination: string;
  readonly protocol: number;
  /** It held the secret text. */
  readonly marked: boolean;
}

/** Listens until it is disposed of. */
export class Sniffer implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #lines = new Map<string, number>();
  readonly #reading: Promise<void>;
  readonly #ready: Promise<void>;

  constructor(sandbox: Sandbox, text: string) {
    this.#child = new Deno.Command("nsenter", {
      args: [`--net=/run/netns/${sandbox.name}`, "perl", "-e", SCRIPT, text],
      stdin: "null",
      stdout: "piped",
    }).spawn();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#ready = promise;
    this.#reading = this.#read(resolve);
  }

  /** It listens. */
  get ready(): Promise<void> {
    return this.#ready;
  }

  async #read(ready: () => void): Promise<void> {
    let rest = "";
    for await (const chunk of this.#child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line === "ready") ready();
        else this.#lines.set(line, (this.#lines.get(line) ?? 0) + 1);
      }
    }
  }

  /** Every kind of packet seen so far. */
  seen(): Seen[] {
    return [...this.#lines.keys()].map((line) => {
      const [source = "", destination = "", protocol = ""] = line.replace(/^!/, "").split(" ");
      return { source, destination, protocol: Number(protocol), marked: line.startsWith("!") };
    });
  }

  /**
   * Packets from or to one of `prefixes` (texts that addresses begin with), or with the text.
   * Not those with which tailscaled of one machine tries whether that of another answers at an
   * address it has inside: they are UDP, from its own address, and encrypted. What the tests send
   * is TCP and ICMP.
   */
  inClear(prefixes: readonly string[]): Seen[] {
    const isInner = (address: string) => prefixes.some((prefix) => address.startsWith(prefix));
    const isProbe = ({ source, destination, protocol }: Seen) =>
      protocol === 17 && !isInner(source) && isInner(destination);
    return this.seen().filter((packet) =>
      packet.marked ||
      (isInner(packet.source) || isInner(packet.destination)) && !isProbe(packet)
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#child.status;
    await this.#reading;
  }
}
