/** What a pod may leave behind on a node, in a form that can be compared. */

import { readStore } from "../../lib/store/mod.ts";
import { type Json } from "../netlink/fixture.ts";
import { type TestNode } from "./test_node.ts";

/** Links, addresses, routes and rules; what the tools print, without what changes by itself. */
export function networkState({ sandbox }: TestNode): Json {
  return withoutVolatile({
    links: sandbox.ip("link", "show"),
    addresses: sandbox.ip("addr", "show"),
    routes: sandbox.ip("route", "show", "table", "all"),
    routes6: sandbox.ip("-6", "route", "show", "table", "all"),
    rules: sandbox.ip("rule", "show"),
    rules6: sandbox.ip("-6", "rule", "show"),
  });
}

/** The same with the packet filter, the store and the runtime's own records. */
export function nodeState(node: TestNode): Json {
  const filter: Json = JSON.parse(node.sandbox.run("nft", "-j", "list", "ruleset"));
  return {
    ...networkState(node),
    filter: withoutVolatile(filter),
    attachments: readStore(
      { directory: `${node.cniState}/headcni`, observe: () => Promise.resolve([]) },
      (store) => store.networks().flatMap((name) => store.network(name)?.attachments.list() ?? []),
    ) ?? [],
    results: namesIn(`${node.cniState}/results`),
  };
}

/** Counters count, handles are numbered anew, and lifetimes run down. */
const VOLATILE = new Set(["handle", "packets", "bytes", "preferred_life_time", "expires"]);

function withoutVolatile(value: Json): Json {
  return JSON.parse(JSON.stringify(value, (key, one) => VOLATILE.has(key) ? undefined : one));
}

function namesIn(directory: string): string[] {
  try {
    return [...Deno.readDirSync(directory)].map(({ name }) => name).sort();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}
