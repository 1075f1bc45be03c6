/** Containers that Debian's podman runs, CNI back end, get their network from the plugin. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { nodeState } from "../node/node_state.ts";
import { Outside } from "../node/outside.ts";
import { requires, root, tool } from "../requires.ts";
import { startPodman } from "./podman.ts";

const needs = requires(
  root,
  tool("podman"),
  tool("conmon"),
  tool("runc"),
  tool("busybox", "busybox-static"),
);

const BLUE = {
  name: "blue",
  plugin: {
    pod_cidr: "10.78.0.0/24",
    capabilities: { portMappings: true, ips: true, mac: true },
  },
};
const GREEN = { name: "green", plugin: { pod_cidr: "10.79.0.0/24" } };

Deno.test({
  ...needs,
  name: "a container of podman has a published port, the asked address and hardware address",
  async fn() {
    await using podman = await startPodman();
    const { node } = podman;
    using outside = new Outside(node);
    node.configure(BLUE);
    node.serve("hello", "hello from the container\n");
    await podman.start(
      "web",
      ["--network=blue", "--ip=10.78.0.77", "--mac-address=02:00:00:00:00:77", "-p", "8080:80"],
      "httpd -p 80 -h /www",
    );
    const shown = await podman.exec("web", "ip addr show eth0; ip route");
    assertStringIncludes(shown, "inet 10.78.0.77/24");
    assertStringIncludes(shown, "link/ether 02:00:00:00:00:77");
    assertStringIncludes(shown, "default via 10.78.0.1 dev eth0");
    const url = `http://${outside.nodeAddress}:8080/hello`;
    const fetched = outside.run("busybox", "timeout", "5", "wget", "-q", "-O", "-", url);
    assertEquals(fetched, "hello from the container\n");
    const inspected = await podman.podman("inspect", "web");
    assertStringIncludes(inspected, '"IPAddress": "10.78.0.77"');
  },
});

Deno.test({
  ...needs,
  name: "a container of podman in two networks reaches both, and the node is as before at its end",
  async fn() {
    await using podman = await startPodman();
    const { node } = podman;
    node.configure(BLUE);
    node.configure(GREEN);
    // Loads the packet filter and tells it of both networks.
    await podman.start("warm-up", ["--network=blue,green"], "true");
    await podman.remove("warm-up");
    const before = nodeState(node);
    assertEquals(before.attachments, []);
    await podman.start("both", ["--network=blue,green"], "true");
    await podman.start("one", ["--network=green"], "true");
    const addresses = await podman.exec("both", "ip -4 -o addr");
    const [, blue] = /eth\d +inet (10\.78\.0\.\d+)\/24/.exec(addresses) ?? [];
    const [, green] = /eth\d +inet (10\.79\.0\.\d+)\/24/.exec(addresses) ?? [];
    for (const gateway of ["10.78.0.1", "10.79.0.1"]) {
      const answer = await podman.exec("both", `ping -c 1 -W 2 ${gateway}`);
      assertStringIncludes(answer, "1 packets received");
    }
    for (const address of [blue, green]) {
      const answer = await podman.exec("one", `ping -c 1 -W 2 ${address}`);
      assertStringIncludes(answer, "1 packets received");
    }
    await podman.remove("both");
    await podman.remove("one");
    assertEquals(nodeState(node), before);
  },
});

Deno.test({
  ...needs,
  name: "a published port of a container of podman in two networks works with either of them",
  async fn() {
    await using podman = await startPodman();
    const { node } = podman;
    using outside = new Outside(node);
    node.configure(BLUE);
    node.configure({ ...GREEN, plugin: { ...GREEN.plugin, capabilities: { portMappings: true } } });
    node.serve("hello", "hello from the container\n");
    const fetch = () => {
      const url = `http://${outside.nodeAddress}:8080/hello`;
      return outside.run("busybox", "timeout", "5", "wget", "-q", "-O", "-", url);
    };
    const options = ["--network=blue,green", "-p", "8080:80"];
    await podman.start("web", options, "httpd -p 80 -h /www");
    assertEquals(fetch(), "hello from the container\n");
    await podman.podman("network", "disconnect", "blue", "web");
    assertEquals(fetch(), "hello from the container\n");
    await podman.podman("network", "disconnect", "green", "web");
    await podman.remove("web");
    assertEquals(nodeState(node).attachments, []);
    // Nobody has the port any more.
    await podman.start("next", options, "httpd -p 80 -h /www");
    assertEquals(fetch(), "hello from the container\n");
  },
});
