import { assertEquals, assertThrows } from "@std/assert";
import { NodeConfigError, parseConfig } from "./config.ts";

const SMALLEST = `
headscale: { url: "https://headscale.example.com/" }
network: { podCIDR: { nodeLocal: "10.244.1.0/24, fd44:0:0:1::/64" } }
`;

/** All that is wrong with `text`, one per line. */
function problemsOf(text: string): string[] {
  const error = assertThrows(() => parseConfig(text, "config.yaml"), NodeConfigError);
  return error.reason.split("; ");
}

Deno.test("a small configuration is complete", () => {
  const config = parseConfig(SMALLEST, "config.yaml");
  assertEquals(config.headscale, {
    url: "https://headscale.example.com",
    apiKeyFile: undefined,
    caFile: undefined,
    user: "headcni",
    tags: [],
    policy: "leave",
  });
  assertEquals(config.tailscale, {
    mode: "host",
    isolation: "none",
    tun: "tailscale0",
    socket: "/var/run/tailscale/tailscaled.sock",
    binary: undefined,
    stateDir: "/var/lib/headcni/tailscale",
    port: 41645,
    hostname: undefined,
    environment: {},
  });
  assertEquals(config.network.podCIDR.nodeLocal.map(String), ["10.244.1.0/24", "fd44:0:0:1::/64"]);
  assertEquals([config.stateDir, config.runtimeDir], ["/var/lib/headcni", "/run/headcni"]);
});

Deno.test("daemon mode has its own interface and socket", () => {
  const { tailscale } = parseConfig(
    `${SMALLEST}tailscale: { mode: daemon, isolation: netns }\nruntimeDir: /run/other/\n`,
    "config.yaml",
  );
  assertEquals(
    [tailscale.tun, tailscale.socket, tailscale.isolation],
    ["headcni01", "/run/other/tailscaled.sock", "netns"],
  );
});

Deno.test("all that is wrong is told at once, unknown keys too", () => {
  assertEquals(
    problemsOf(`
headscale: { apiKey: secret, tags: [k8s] }
tailscale: { mode: hots, port: 0, socket: relative }
network: { podCIDR: { nodeLocal: [10.244.1.0/24, 10.244.2.0/24] } }
extra: 1
`),
    [
      "extra is unknown",
      "known are headscale, tailscale, network, stateDir, runtimeDir, log",
      "headscale.apiKey is unknown",
      "known are url, apiKeyFile, caFile, user, tags, policy",
      "headscale.url is missing",
      'headscale.tags holds "k8s", which is no tag',
      'tailscale.mode is "hots" instead of one of host, daemon',
      'tailscale.socket is "relative", which is no absolute path',
      "tailscale.port is 0, not between 1 and 65535",
      "network.podCIDR.nodeLocal has more than one IPv4 prefix",
    ],
  );
});

Deno.test("prefixes that cannot be pods' are refused", () => {
  const problems = (nodeLocal: string, base = "") =>
    problemsOf(`
headscale: { url: "https://h" }
network: { podCIDR: { nodeLocal: "${nodeLocal}"${base === "" ? "" : `, base: "${base}"`} } }
`);
  assertEquals(problems("0.0.0.0/0").length, 1);
  assertEquals(problems("::/0").length, 1);
  assertEquals(problems("10.244.1.1/24").at(-1), "did you mean 10.244.1.0/24?");
  assertEquals(problems("100.100.0.0/24").length, 1);
  assertEquals(problems("fd7a:115c:a1e0:1::/64").length, 1);
  assertEquals(problems("10.245.1.0/24", "10.244.0.0/16"), [
    "network.podCIDR.nodeLocal has 10.245.1.0/24, which is not in network.podCIDR.base",
  ]);
});

Deno.test("what is to be added to the policy must be known", () => {
  const text = SMALLEST.replace("headscale: {", "headscale: { policy: merge,");
  assertEquals(problemsOf(text), [
    "headscale.policy is merge, which needs headscale.tags",
    "headscale.policy is merge, which needs network.podCIDR.base",
  ]);
});

Deno.test("a key in the wrong place is not shown", () => {
  const key = "hskey-api-0123456789ab-secretsecretsecret";
  for (
    const text of [
      `headscale: [${key}`,
      `headscale: ${key}`,
      `headscale: { url: [${key}] }`,
      `headscale: { url: "https://u:${key}@h" }`,
      `headscale: { apiKeyFile: ${key} }`,
    ]
  ) {
    const error = assertThrows(() => parseConfig(text, "config.yaml"), NodeConfigError);
    assertEquals(error.message.includes("secretsecret"), false, error.message);
  }
});
