/** Beside the tables of others: neither is hurt, and the order of the hooks is as promised. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { addPod, removeAll } from "../../lib/firewall/mod.ts";
import { requires, root, tool } from "../requires.ts";
import { ADDRESS, any, call, endpoint, podRules, TestNode } from "./node.ts";

const nftNeeds = requires(root, tool("ip", "iproute2"), tool("nft", "nftables"));
const iptablesNeeds = requires(
  root,
  tool("ip", "iproute2"),
  tool("nft", "nftables"),
  tool("iptables-nft", "iptables"),
);

const HOST_PORTS = [{ protocol: "tcp", hostPort: 8080, containerPort: 80 }] as const;

/** Who alpha and the remote machine see: everything we do, in two calls. */
function works(node: TestNode): (string | undefined)[] {
  const to = endpoint(ADDRESS.node[4], 8080);
  const serverAt = any(4, 80);
  return [
    call(node, { protocol: "tcp", client: "remote", server: "alpha", to, serverAt }),
    call(node, {
      protocol: "tcp",
      client: "alpha",
      server: "remote",
      to: endpoint(ADDRESS.remote[4], 7000),
    }),
  ];
}

const WORKS = [ADDRESS.remote[4], ADDRESS.node[4]];

Deno.test({
  ...iptablesNeeds,
  name: "iptables works beside us, before and after, and its rules stay as they are",
  async fn() {
    using node = new TestNode();
    const iptables = (...args: readonly string[]) => node.at("node").run("iptables-nft", ...args);
    iptables("-t", "nat", "-A", "POSTROUTING", "-s", "172.17.0.0/16", "-j", "MASQUERADE");
    iptables("-A", "FORWARD", "-i", "docker0", "-j", "DROP");
    const before = [iptables("-S"), iptables("-t", "nat", "-S")];
    await node.load();
    addPod(node.netfilter, podRules("alpha", { hostPorts: HOST_PORTS }));
    assertEquals(works(node), WORKS);
    assertEquals([iptables("-S"), iptables("-t", "nat", "-S")], before);
    iptables("-t", "nat", "-A", "OUTPUT", "-j", "RETURN");
    assertEquals(works(node), WORKS);
    removeAll(node.netfilter);
    assertEquals(iptables("-S"), before[0]);
  },
});

Deno.test({
  ...iptablesNeeds,
  name: "where a table makes iptables unusable, as Tailscale's does, we work",
  async fn() {
    using node = new TestNode();
    node.nft(
      "add table ip nat; add set ip nat s { type ipv4_addr; }; " +
        "add chain ip nat POSTROUTING { type nat hook postrouting priority 100; }; " +
        "add rule ip nat POSTROUTING ip saddr @s masquerade",
    );
    const broken = new Deno.Command("ip", {
      args: ["netns", "exec", node.at("node").name, "iptables-nft", "-t", "nat", "-S"],
    }).outputSync();
    assert(!broken.success);
    assertStringIncludes(new TextDecoder().decode(broken.stderr), "incompatible");
    await node.load();
    addPod(node.netfilter, podRules("alpha", { hostPorts: HOST_PORTS }));
    assertEquals(works(node), WORKS);
  },
});

Deno.test({
  ...nftNeeds,
  name: "a NodePort, translated where kube-proxy does it, wins over a host port",
  async fn() {
    using node = new TestNode();
    await node.load();
    addPod(node.netfilter, podRules("alpha", { hostPorts: HOST_PORTS }));
    addPod(node.netfilter, podRules("beta"));
    node.nft(
      "add table ip kube-proxy; " +
        "add chain ip kube-proxy p { type nat hook prerouting priority dstnat; }; " +
        `add rule ip kube-proxy p tcp dport 8080 dnat to ${ADDRESS.beta[4]}:80`,
    );
    const to = endpoint(ADDRESS.node[4], 8080);
    const serverAt = any(4, 80);
    const ask = (server: "alpha" | "beta") =>
      call(node, { protocol: "tcp", client: "remote", server, to, serverAt });
    assertEquals(ask("beta"), ADDRESS.remote[4]);
  },
});

Deno.test({
  ...nftNeeds,
  name: "what another table drops stays dropped",
  async fn() {
    using node = new TestNode();
    await node.load();
    addPod(node.netfilter, podRules("alpha", { hostPorts: HOST_PORTS }));
    node.nft(
      "add table inet firewalld; " +
        "add chain inet firewalld f { type filter hook forward priority filter + 10; policy drop; }",
    );
    assertEquals(works(node), [undefined, undefined]);
  },
});
