/**
 * Name servers for the result: `dns` as every CNI plugin has it, and `magic_dns`, which adds
 * the tailnet's own.
 *
 * Name servers are ordered: the cluster's first, then those of the tailnet, then others. A
 * resolver asks the first one first, and only the cluster's knows services. (Kubelet writes
 * resolv.conf itself and ignores this part of a result; other runtimes use it.)
 */

import { parseAddress } from "../ip/address.ts";
import { TAILNET_IPV4, TAILNET_IPV6 } from "../ip/well_known.ts";
import { type JsonReader } from "../sys/json_reader.ts";
import { type ResultDns } from "./result.ts";

/** Where tailscaled answers names of the tailnet ("Quad100"). */
const MAGIC_NAMESERVER = "100.100.100.100";

/** Reads `dns` and `magic_dns`; `undefined` when neither says anything. */
export function readMagicDns(reader: JsonReader): ResultDns | undefined {
  const dns = reader.object("dns");
  const magic = reader.object("magic_dns");
  const isMagic = magic?.boolean("enable") ?? false;
  const magicServers = readServers(magic);
  const magicSearch = [
    magic?.string("base_domain") ?? "",
    ...magic?.strings("search_domains") ?? [],
  ];
  if (dns === undefined && !isMagic) return undefined;
  const written = {
    nameservers: readServers(dns),
    search: dns?.strings("search") ?? [],
    domain: dns?.string("domain"),
    options: dns?.strings("options") ?? [],
  };
  if (!isMagic) return compact(written);
  const added = magicServers.length > 0 ? magicServers : [MAGIC_NAMESERVER];
  return compact({
    ...written,
    nameservers: orderServers([...written.nameservers, ...added]),
    search: unique([...written.search, ...magicSearch.filter((domain) => domain !== "")]),
  });
}

function readServers(reader: JsonReader | undefined): readonly string[] {
  return reader?.strings("nameservers")?.filter((text, index) =>
    reader.attempt(`nameservers[${index}]`, () => parseAddress(text)) !== undefined
  ) ?? [];
}

/** Cluster addresses keep their order at the front; tailnet ones follow; the rest is last. */
function orderServers(servers: readonly string[]): readonly string[] {
  const rank = (text: string): number => {
    const address = parseAddress(text);
    if (TAILNET_IPV4.contains(address) || TAILNET_IPV6.contains(address)) return 1;
    return isPrivate(text) ? 0 : 2;
  };
  return unique(servers).toSorted((left, right) => rank(left) - rank(right));
}

/** Addresses of RFC 1918 and RFC 4193: a cluster's own name server has one. */
function isPrivate(text: string): boolean {
  return /^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|f[cd])/i.test(text);
}

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)];
}

function compact(dns: {
  readonly nameservers: readonly string[];
  readonly search: readonly string[];
  readonly domain: string | undefined;
  readonly options: readonly string[];
}): ResultDns {
  return {
    ...(dns.nameservers.length > 0 ? { nameservers: dns.nameservers } : {}),
    ...(dns.domain ? { domain: dns.domain } : {}),
    ...(dns.search.length > 0 ? { search: dns.search } : {}),
    ...(dns.options.length > 0 ? { options: dns.options } : {}),
  };
}
