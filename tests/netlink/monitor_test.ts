/** The monitor against the real kernel. */

import { assert, assertEquals } from "@std/assert";
import { parsePrefix } from "../../lib/ip/mod.ts";
import { RTN_BLACKHOLE } from "../../lib/netlink/constants/rtnetlink.ts";
import {
  addAddress,
  addRoute,
  addRule,
  createVeth,
  deleteLink,
  deleteRoute,
  getLink,
  type Netns,
  setLinkUp,
} from "../../lib/netlink/mod.ts";
import {
  type Monitor,
  type MonitorEvent,
  type MonitorSubject,
  openMonitor,
} from "../../lib/netlink/monitor.ts";
import { requires, root } from "../requires.ts";
import { Sandbox } from "./fixture.ts";

const needs = requires(root);

// Loaded outside of the tests, as in the fixture.
openMonitor()[Symbol.dispose]();

/** An event in one line. */
function describe(event: MonitorEvent): string {
  switch (event.subject) {
    case "link":
      return `${event.change} link ${event.link.name}${event.link.up ? " up" : ""}`;
    case "address":
      return `${event.change} address ${event.address.address}`;
    case "route":
      return `${event.change} route ${event.route.destination} table ${event.route.table}`;
    case "rule":
      return `${event.change} rule ${event.rule.priority}`;
    case "resync":
      return `resync: ${event.reason}`;
  }
}

/** Reads until all of `wanted` have come, in any order; gives every line. */
async function until(
  events: AsyncIterable<MonitorEvent>,
  ...wanted: readonly string[]
): Promise<string[]> {
  const lines: string[] = [];
  for await (const event of events) {
    lines.push(describe(event));
    if (wanted.every((line) => lines.includes(line))) return lines;
  }
  assertEquals(wanted.filter((line) => !lines.includes(line)), [], "the signal came first");
  return lines;
}

/** Watches `netns` for as long as a test may take. */
function watch(netns: Netns, subjects?: readonly MonitorSubject[]): Monitor {
  const signal = AbortSignal.timeout(10_000);
  return openMonitor({ netns, signal, ...(subjects === undefined ? {} : { subjects }) });
}

Deno.test({
  ...needs,
  name: "the monitor tells of links, addresses, routes and rules of both families",
  async fn() {
    using sandbox = new Sandbox();
    const { connection, netns } = sandbox;
    using monitor = watch(netns);
    connection.batch([createVeth({ name: "a", peer: { name: "b" } }), setLinkUp({ name: "a" })]);
    const { index } = getLink(connection, { name: "a" });
    connection.batch([
      addAddress({ index, address: parsePrefix("10.1.0.2/24") }),
      addAddress({ index, address: parsePrefix("fd00::2/64"), noDad: true }),
      addRoute({ destination: parsePrefix("10.9.0.0/16"), index }),
      addRoute({ destination: parsePrefix("fd00:9::/64"), index }),
      deleteRoute({ destination: parsePrefix("10.9.0.0/16") }),
      addRule({ family: 4, priority: 5105, table: 100 }),
      addRule({ family: 6, priority: 5106, table: 100 }),
    ]);
    // The kernel tells of an IPv6 address from a worker thread, a little later.
    await until(
      monitor,
      "new link a",
      "new link b",
      "new link a up",
      "new address 10.1.0.2/24",
      "new address fd00::2/64",
      "new route 10.9.0.0/16 table 254",
      "new route fd00:9::/64 table 254",
      "delete route 10.9.0.0/16 table 254",
      "new rule 5105",
      "new rule 5106",
    );
    connection.execute(deleteLink({ index }));
    await until(
      monitor,
      "delete address 10.1.0.2/24",
      "delete address fd00::2/64",
      "delete link a",
      "delete link b",
    );
  },
});

Deno.test({
  ...needs,
  name: "the monitor tells only of what it was asked",
  async fn() {
    using sandbox = new Sandbox();
    const { connection, netns } = sandbox;
    using monitor = watch(netns, ["rule"]);
    connection.batch([
      createVeth({ name: "a", peer: { name: "b" } }),
      addRule({ family: 4, priority: 5105, table: 100 }),
    ]);
    assertEquals(await until(monitor, "new rule 5105"), ["new rule 5105"]);
  },
});

Deno.test({
  ...needs,
  name: "events that were dropped become one resync, and later events arrive again",
  async fn() {
    using sandbox = new Sandbox();
    const { connection, netns } = sandbox;
    using monitor = watch(netns, ["route"]);
    const destination = parsePrefix("10.9.0.0/16");
    const requests = Array.from({ length: 4000 }, (_, n) => {
      const route = { destination, type: RTN_BLACKHOLE };
      return n % 2 === 0 ? addRoute(route) : deleteRoute(route);
    });
    connection.batch(requests);
    let seen = 0;
    let resyncs = 0;
    let marked = false;
    for await (const event of monitor) {
      if (event.subject === "resync") resyncs++;
      else seen++;
      // Room has been made: this one must arrive.
      if (resyncs === 1 && !marked) {
        marked = true;
        connection.execute(
          addRoute({ destination: parsePrefix("10.8.0.0/16"), type: RTN_BLACKHOLE }),
        );
      }
      if (describe(event) === "new route 10.8.0.0/16 table 254") break;
    }
    assertEquals(resyncs, 1);
    assert(seen < 4000, "the test needs an overflow");
  },
});

Deno.test({
  ...needs,
  name: "waiting does not hold up the event loop, and a signal or disposing ends it at once",
  async fn() {
    using sandbox = new Sandbox();
    const { netns } = sandbox;
    const stop = new AbortController();
    using signalled = openMonitor({ netns, signal: stop.signal });
    const disposed = openMonitor({ netns });
    const first = until(signalled);
    const second = until(disposed);
    let ticks = 0;
    while (ticks < 10) {
      await new Promise((resolve) => setTimeout(resolve, 2));
      ticks++;
    }
    stop.abort();
    disposed[Symbol.dispose]();
    assertEquals([await first, await second], [[], []]);
  },
});
