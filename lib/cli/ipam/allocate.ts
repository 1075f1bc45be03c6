/** `headcni ipam allocate`. */

import { allocate } from "../../ipam/allocate.ts";
import {
  parseCooldown,
  parsePoolConfig,
  parsePoolDefinitions,
  type PoolConfig,
} from "../../ipam/pool_config.ts";
import { withStore } from "../../store/open_store.ts";
import { type Store } from "../../store/store.ts";
import { systemClock } from "../../sys/clock.ts";
import { denoFiles } from "../../sys/files.ts";
import { isJsonObject } from "../../sys/json_reader.ts";
import { cryptoRandomBelow } from "../../sys/random.ts";
import { type Invocation, type Output } from "../command.ts";
import { ExitCode } from "../exit_code.ts";
import { UsageError } from "../usage_error.ts";
import { addressOf, printJson, required, storeOptions } from "./context.ts";

/** Allocates for a container named on the command line. */
export async function run(invocation: Invocation, output: Output): Promise<number> {
  const network = required(invocation, "network");
  const containerId = required(invocation, "container");
  const address = invocation.value("address");
  const file = invocation.value("config");
  const configured = file === undefined ? undefined : poolsOf(file, network);
  const addresses = await withStore(storeOptions(invocation, output), (store) => {
    const pools = configured ?? storedPools(store, network);
    const request = {
      ...pools,
      network,
      key: { containerId, ifname: invocation.value("ifname") ?? "eth0" },
      requested: address === undefined ? [] : [addressOf(address)],
    };
    const ports = { random: cryptoRandomBelow, now: systemClock.now };
    const work = () => allocate(store, request, ports);
    return invocation.has("dry-run") ? store.rehearse(work) : work();
  });
  const lines = addresses.map(({ address, gateway }) => ({
    address: address.toString(),
    gateway: gateway.toString(),
  }));
  if (invocation.has("json")) printJson(output, lines);
  else output.stdout.write(lines.map((line) => `${line.address} via ${line.gateway}\n`).join(""));
  return ExitCode.ok;
}

/** The pools the network was used with last. */
function storedPools(store: Store, network: string): Omit<PoolConfig, "definitions"> {
  const stored = store.network(network)?.pools.list() ?? [];
  const definitions = stored.flatMap(({ definition }) => definition ?? []);
  if (definitions.length === 0) {
    throw new UsageError(
      `--network "${network}"`,
      "the store knows no pools of it; name a configuration with --config",
    );
  }
  const sets = parsePoolDefinitions(definitions);
  return { sets, strategy: "sequential", cooldownMs: parseCooldown(undefined) };
}

/** The pools of the first plugin of a configuration that has any. */
function poolsOf(file: string, network: string): PoolConfig {
  let config: unknown;
  try {
    config = JSON.parse(denoFiles.readText(file));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new UsageError(`--config ${file}`, `it is not JSON: ${error.message}`);
  }
  const plugins = isJsonObject(config) && Array.isArray(config.plugins) ? config.plugins : [config];
  const ipam = plugins.filter(isJsonObject).map((plugin) => plugin.ipam).find(isJsonObject);
  if (ipam === undefined) {
    throw new UsageError(`--config ${file}`, `it has no plugin with addresses for ${network}`);
  }
  return parsePoolConfig(ipam);
}
