/** Reading resolv.conf(5): name servers for the result of ADD. */

/** What such a file says. Lists that it does not mention are empty. */
export interface ResolverConfig {
  readonly nameservers: readonly string[];
  readonly domain: string | undefined;
  readonly search: readonly string[];
  readonly options: readonly string[];
}

/**
 * Parses the text of a resolv.conf file: `nameserver`, `domain`, `search` and `options`;
 * comments begin with `#` or `;`, and what has no value is ignored.
 *
 * @example
 * ```ts
 * import { parseResolvConf } from "./resolv_conf.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const { nameservers, search } = parseResolvConf("nameserver 10.96.0.10\nsearch a.local b.local\n");
 * assertEquals([nameservers, search], [["10.96.0.10"], ["a.local", "b.local"]]);
 * ```
 */
export function parseResolvConf(text: string): ResolverConfig {
  const nameservers: string[] = [];
  const search: string[] = [];
  const options: string[] = [];
  let domain: string | undefined;
  for (const line of text.split("\n")) {
    const [key = "", ...values] = line.trim().split(/\s+/);
    const [first] = values;
    if (/^[#;]/.test(key) || first === undefined) continue;
    if (key === "nameserver") nameservers.push(first);
    else if (key === "domain") domain = first;
    else if (key === "search") search.push(...values);
    else if (key === "options") options.push(...values);
  }
  return { nameservers, domain, search, options };
}
