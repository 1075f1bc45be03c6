/** Debian packages the tests run against, installed when they are missing. */

/** A program the tests call, and the package it is in. */
const TEST_TOOLS: Readonly<Record<string, string>> = {
  busybox: "busybox-static",
  conntrack: "conntrack",
  "host-local": "containernetworking-plugins",
  containerd: "containerd",
  fish: "fish",
  ip: "iproute2",
  "iptables-nft": "iptables",
  nft: "nftables",
  nsenter: "util-linux",
  openssl: "openssl",
  perl: "perl-base",
  ping: "iputils-ping",
  podman: "podman",
  runc: "runc",
  script: "bsdutils",
  strace: "strace",
  sysctl: "procps",
  tc: "iproute2",
  unshare: "util-linux",
  zsh: "zsh",
};

function isInstalled(program: string): boolean {
  // CNI plugins are in a directory of their own.
  const path = `${Deno.env.get("PATH") ?? ""}:/usr/sbin:/sbin:/usr/lib/cni`;
  return path.split(":").some((directory) => {
    try {
      return Deno.statSync(`${directory}/${program}`).isFile;
    } catch {
      return false;
    }
  });
}

/** Packages whose programs are not on this machine. */
export function missingPackages(tools: Readonly<Record<string, string>> = TEST_TOOLS): string[] {
  const missing = Object.entries(tools).filter(([program]) => !isInstalled(program));
  return [...new Set(missing.map(([, name]) => name))].sort();
}

/**
 * Installs what is missing with apt, saying so; without root or apt it only says what
 * is missing, and the tests that need it skip themselves with the reason.
 */
export async function installMissing(
  say: (text: string) => void,
  tools: Readonly<Record<string, string>> = TEST_TOOLS,
): Promise<void> {
  const packages = missingPackages(tools);
  if (packages.length === 0) return;
  if (Deno.uid() !== 0 || !isInstalled("apt-get")) {
    say(`not installed: ${packages.join(" ")} (as root on Debian they would be)`);
    return;
  }
  say(`installing Debian packages: ${packages.join(" ")}`);
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  for (const args of [["update"], ["install", "--yes", "--no-install-recommends", ...packages]]) {
    const { success, stderr } = await new Deno.Command("apt-get", {
      args: ["-qq", ...args],
      env,
      stdin: "null",
      stdout: "null",
    }).output();
    if (!success) {
      say(`apt-get ${args[0]} failed: ${new TextDecoder().decode(stderr).trim()}`);
      return;
    }
  }
}
