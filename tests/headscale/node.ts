/** A real node: tailscaled without a network interface, in the namespace of its server. */

import { run } from "../netlink/fixture.ts";
import type { Secret } from "../../lib/sys/secret.ts";
import type { OwnNode } from "../../lib/headscale/mod.ts";
import { INNER_URL, type TestHeadscale } from "./server.ts";

/** The programs of a node. */
export interface NodePrograms {
  readonly tailscaled: string;
  readonly tailscale: string;
}

/** A node that joins a server. */
export class TestTailscale {
  readonly #server: TestHeadscale;
  readonly #programs: NodePrograms;
  readonly #directory: string;
  readonly name: string;

  constructor(server: TestHeadscale, name: string, programs: NodePrograms) {
    this.name = name;
    this.#server = server;
    this.#programs = programs;
    this.#directory = `${server.directory}/${name}`;
    Deno.mkdirSync(this.#directory);
  }

  /** Starts its tailscaled, which ends with the server. */
  start(): void {
    this.#server.spawn(this.#programs.tailscaled, [
      "--tun=userspace-networking",
      `--socket=${this.#directory}/socket`,
      `--statedir=${this.#directory}`,
      "--port=0",
      "--no-logs-no-support",
    ], {
      log: `${this.name}.log`,
      env: {
        TS_DEBUG_USE_DERP_HTTP: "true",
        TS_DISABLE_PORTMAPPER: "1",
        TS_LOGS_DIR: this.#directory, // otherwise it makes /var/lib/tailscale
      },
    });
  }

  /** Logs in with `key` and advertises `routes`; waits until it runs. */
  up(key: Secret, routes: readonly string[]): void {
    const file = `${this.#directory}/key`;
    Deno.writeTextFileSync(file, key.expose(), { mode: 0o600 });
    const host = [`--hostname=${this.name}`, `--login-server=${INNER_URL}`];
    const more = [`--advertise-routes=${routes.join(",")}`, "--timeout=60s"];
    this.cli("up", `--auth-key=file:${file}`, ...host, ...more);
    Deno.removeSync(file);
  }

  /** `tailscale …` for this node: what it prints. */
  cli(...args: readonly string[]): string {
    return run(this.#programs.tailscale, `--socket=${this.#directory}/socket`, ...args);
  }

  /** How it knows itself. */
  own(): OwnNode {
    const { Self } = JSON.parse(this.cli("status", "--json"));
    return { id: Self.ID, nodeKey: Self.PublicKey };
  }

  /** Routes that lead to `peer`, as this node was told; sorted. */
  routesTo(peer: OwnNode): string[] {
    const { Peer } = JSON.parse(this.cli("status", "--json"));
    return (Peer?.[peer.nodeKey]?.PrimaryRoutes ?? []).sort();
  }
}
