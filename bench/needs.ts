/** What a benchmark needs of the machine, asked for before it begins. */

/** Debian's plugins, and the programs a comparison uses, by package. */
const NEEDS: Readonly<Record<string, string>> = {
  "/usr/lib/cni/ptp": "containernetworking-plugins",
  "/usr/sbin/iptables": "iptables",
  "/usr/sbin/nft": "nftables",
  "/usr/bin/iperf3": "iperf3",
  "/usr/bin/ping": "iputils-ping",
};

/** @throws {Error} naming the packages to install, or that root is needed. */
export function checkNeeds(): void {
  if (Deno.uid() !== 0) throw new Error("Cannot make network namespaces without root");
  const missing = Object.entries(NEEDS).filter(([path]) => !exists(path)).map(([, name]) => name);
  if (missing.length === 0) return;
  throw new Error(`Cannot compare with what is not here: apt-get install ${missing.join(" ")}`);
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
