/**
 * What a chain has done, on the disk: before each plugin runs and after it has ended.
 *
 * Every method is one durable transaction. No lock is held while a plugin runs: it may be one
 * that uses the same store.
 */

import { type AttachmentKey } from "../../store/attachments.ts";
import { type ChainFacts, type StoredChain } from "../../store/chains.ts";
import { type NetworkRecords } from "../../store/network.ts";
import { hasStore, type StoreOptions, withStore } from "../../store/open_store.ts";
import { systemClock } from "../../sys/clock.ts";
import { type PluginCall } from "../dispatch.ts";
import { storeOptions } from "../store_options.ts";
import { type ChainElement } from "./element.ts";
import { type VersionedResult } from "./previous_result.ts";

/** What the store knows about an attachment. */
export interface Known {
  readonly chain: StoredChain | undefined;
  /** Whether our own data path made it, without a chain. */
  readonly isNative: boolean;
}

/** The chains of one network in the store. */
export class ChainState {
  readonly #options: StoreOptions;
  readonly #network: string;

  /** Opens nothing yet. `ipam` is left out: its `dataDir` is that of the delegate's IPAM. */
  constructor({ config, version, io, leftMs }: PluginCall) {
    const { dataDir } = config.raw;
    const network = config.name;
    this.#options = storeOptions({ network, version, io, leftMs, config: { dataDir } });
    this.#network = network;
  }

  /** Everything about one attachment. */
  async find(key: AttachmentKey): Promise<Known> {
    const nothing = { chain: undefined, isNative: false };
    return await this.#read((network) => {
      const chain = network.chains.find(key);
      const isNative = network.attachments.find(key)?.record !== undefined;
      return { chain, isNative: isNative && chain === undefined };
    }) ?? nothing;
  }

  /** All chains, and the attachments our own data path made without one. */
  async list(): Promise<{ chains: StoredChain[]; natives: AttachmentKey[] }> {
    return await this.#read((network) => {
      const chains = network.chains.list();
      const nameOf = ({ containerId, ifname }: AttachmentKey) => `${containerId}/${ifname}`;
      const ofChains = new Set(chains.map(nameOf));
      const natives = network.attachments.list()
        .filter((one) => one.record !== undefined && !ofChains.has(nameOf(one)));
      return { chains, natives };
    }) ?? { chains: [], natives: [] };
  }

  /**
   * The first plugin of a new chain is about to run. Returns the row of the chain, or the chain
   * that is there already, and then nothing was changed.
   */
  async begin(
    target: AttachmentKey & ChainFacts,
    element: ChainElement,
  ): Promise<number | StoredChain> {
    return await withStore(this.#options, (store) =>
      store.transaction(() => {
        const { chains } = store.ensureNetwork(this.#network);
        const known = chains.find(target);
        if (known !== undefined) return known;
        const id = chains.add(target, target, systemClock.now());
        chains.startStep(id, stepOf(element));
        return id;
      }));
  }

  /** A further plugin is about to run; `before` is what the one before it answered. */
  async start(id: number, element: ChainElement, before: VersionedResult): Promise<void> {
    await this.#change(({ chains }) => {
      chains.endStep(id, element.position - 1, JSON.stringify(before.value));
      chains.startStep(id, stepOf(element));
    });
  }

  /** The last plugin answered `result`: the attachment is whole. */
  async complete(id: number, position: number, result: VersionedResult): Promise<void> {
    await this.#change(({ chains }) => {
      chains.endStep(id, position, JSON.stringify(result.value));
      chains.complete(id);
    });
  }

  /** The DEL of a plugin succeeded, or it never ran. */
  async forget(id: number, position: number): Promise<void> {
    await this.#change(({ chains }) => chains.removeStep(id, position));
  }

  /** The DEL of a plugin failed. */
  async leave(id: number, position: number, error: string): Promise<void> {
    await this.#change(({ chains }) => chains.leaveStep(id, position, error));
  }

  /** Not `readStore`: a damaged store is repaired by who writes, and DEL must not be stuck. */
  async #read<T>(work: (network: NetworkRecords) => T): Promise<T | undefined> {
    if (!hasStore(this.#options)) return undefined;
    return await withStore(this.#options, (store) => {
      const network = store.network(this.#network);
      return network === undefined ? undefined : work(network);
    });
  }

  async #change(work: (network: NetworkRecords) => void): Promise<void> {
    await withStore(this.#options, (store) =>
      store.transaction(() => {
        const network = store.network(this.#network);
        if (network !== undefined) work(network);
      }));
  }
}

function stepOf({ position, type, config }: ChainElement) {
  return { position, type, config: JSON.stringify(config) };
}
