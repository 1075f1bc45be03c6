/** A machine beside a node: somebody else on its network. */

import { run, Sandbox } from "../netlink/fixture.ts";
import { type TestNode } from "./test_node.ts";

/** A namespace with a cable to a node. The node is 192.0.2.1, this is 192.0.2.2. */
export class Outside implements Disposable {
  readonly address = "192.0.2.2";
  readonly nodeAddress = "192.0.2.1";
  readonly sandbox: Sandbox = new Sandbox();

  constructor(node: TestNode) {
    const [inside, outside] = [node.sandbox.name, this.sandbox.name];
    const cable = `up-${outside.slice(-8)}`;
    run("ip", "-n", inside, "link", "add", cable, "type", "veth", "peer", "eth0", "netns", outside);
    this.#connect(inside, cable, this.nodeAddress);
    this.#connect(outside, "eth0", this.address);
  }

  /** Any program out there: its standard output. */
  run(...command: readonly string[]): string {
    return this.sandbox.run(...command);
  }

  /** A web server that offers `directory` until it is disposed of. */
  serve(directory: string): Disposable {
    const server = ["busybox", "httpd", "-f", "-p", "80", "-h", directory];
    const args = ["netns", "exec", this.sandbox.name, ...server];
    const child = new Deno.Command("ip", { args, stdin: "null" }).spawn();
    return { [Symbol.dispose]: () => child.kill() };
  }

  [Symbol.dispose](): void {
    this.sandbox[Symbol.dispose]();
  }

  #connect(netns: string, name: string, address: string): void {
    run("ip", "-n", netns, "addr", "add", `${address}/24`, "dev", name);
    run("ip", "-n", netns, "link", "set", name, "up");
  }
}
