/**
 * Giving addresses to an attachment: all of them or none, durable before anybody hears of it.
 *
 * The steps run in one transaction, so a crash between any two of them leaves the store as it
 * was before the first. After the commit the attachment holds its addresses whether or not
 * the answer reached anybody: the same call again gets the same answer, DEL releases them.
 */

import { type IpAddress } from "../ip/address.ts";
import { type Prefix } from "../ip/prefix.ts";
import { type AttachmentFacts, type AttachmentKey } from "../store/attachments.ts";
import { type NetworkRecords } from "../store/network.ts";
import { type Store } from "../store/store.ts";
import { failpoint } from "../sys/failpoint.ts";
import { type RandomBelow } from "../sys/random.ts";
import { AddressUnavailableError, AttachmentConflictError, ExhaustedError } from "./errors.ts";
import { type RangeSet, withSubnet } from "./range_set.ts";
import { reclaimBeforeBoot, releaseAttachment, wakeRested } from "./release.ts";
import { type StrategyName, strategyOf } from "./strategy.ts";
import { poolUsage } from "./usage.ts";

/** What is asked for. */
export interface AllocateRequest {
  readonly network: string;
  readonly key: AttachmentKey;
  readonly sets: readonly RangeSet[];
  readonly strategy: StrategyName;
  /** How long a released address rests. */
  readonly cooldownMs: number;
  /** Addresses to give out and no others; each has to be in one of the sets. */
  readonly requested?: readonly IpAddress[];
  readonly facts?: AttachmentFacts;
  /** The sets in the words of the configuration; recorded for people. */
  readonly definitions?: readonly string[];
}

/** What the choice depends on beside the store. */
export interface AllocatePorts {
  readonly random: RandomBelow;
  /** Wall clock in milliseconds since 1970. */
  readonly now: () => number;
}

/** An address given out. */
export interface AllocatedAddress {
  /** With the length of its subnet. */
  readonly address: Prefix;
  readonly gateway: IpAddress;
}

/**
 * Gives one address of each set to the attachment, in their order.
 *
 * An attachment that holds fitting addresses gets the same ones again.
 *
 * @throws {ExhaustedError} if a set has no address left.
 * @throws {AddressUnavailableError} if a requested address cannot be given.
 * @throws {AttachmentConflictError} if it holds other addresses.
 * @throws {StoreError}
 */
export function allocate(
  store: Store,
  request: AllocateRequest,
  ports: AllocatePorts,
): AllocatedAddress[] {
  failpoint("allocate.begin");
  const addresses = store.transaction(() => {
    const network = store.ensureNetwork(request.network);
    failpoint("allocate.network");
    if (request.definitions !== undefined) network.pools.define(request.definitions);
    wakeRested(network, request.cooldownMs);
    failpoint("allocate.woken");
    const chosen = heldAlready(network, request, ports) ?? allocateNew(network, request, ports);
    failpoint("allocate.uncommitted");
    return chosen;
  });
  failpoint("allocate.committed");
  return addresses.map((address, index) => describe(address, request.sets[index]));
}

function describe(address: IpAddress, set: RangeSet | undefined): AllocatedAddress {
  const range = set?.rangeOf(address);
  if (range === undefined) throw new TypeError(`Cannot describe ${address}: it is in no range`);
  return { address: withSubnet(address, range), gateway: range.gateway };
}

/** What the attachment holds, if that is what is asked for. */
function heldAlready(
  network: NetworkRecords,
  request: AllocateRequest,
  ports: AllocatePorts,
): IpAddress[] | undefined {
  const attachment = network.attachments.find(request.key);
  if (attachment === undefined) return undefined;
  const held = network.addresses.ofAttachment(attachment.id);
  const { sets, requested = [], key } = request;
  const fits = held.length === sets.length &&
    held.every((address, index) => sets[index]?.offers(address)) &&
    requested.every((wanted) => held.some((address) => address.equals(wanted)));
  if (fits) {
    // Also in the same boot: the container's wishes (its ports, say) may be others now.
    network.attachments.renew(attachment.id, request.facts ?? {}, ports.now());
    return held;
  }
  if (!attachment.sinceBoot) {
    // Its container ended with the machine; what it held is nobody's.
    releaseAttachment(network, attachment.id, 0);
    return undefined;
  }
  throw new AttachmentConflictError({
    operation: "allocate address",
    subject: `for ${key.containerId} ${key.ifname} in network ${network.name}`,
    reason: `it holds ${held.join(", ")}, which does not fit the configuration`,
    remedy: "Call DEL for it first, or headcni ipam release",
  });
}

function allocateNew(
  network: NetworkRecords,
  request: AllocateRequest,
  ports: AllocatePorts,
): IpAddress[] {
  const { key, facts = {}, sets, requested = [] } = request;
  const wishes = assignWishes(sets, requested);
  const attachment = network.attachments.add(key, facts, ports.now());
  failpoint("allocate.attached");
  return sets.map((set, position) => {
    const wish = wishes.get(set);
    const address = wish === undefined
      ? choose(network, set, { request, ports, position })
      : takeWish(network, wish);
    failpoint("allocate.chosen");
    network.hold(address, { kind: "held", attachment, position });
    failpoint("allocate.held");
    if (wish === undefined) network.pools.setCursor(position, address);
    failpoint("allocate.cursor");
    return address;
  });
}

/** Which requested address goes to which set: as host-local does, the first that has it. */
function assignWishes(
  sets: readonly RangeSet[],
  requested: readonly IpAddress[],
): Map<RangeSet, IpAddress> {
  const wishes = new Map<RangeSet, IpAddress>();
  for (const address of requested) {
    if ([...wishes.values()].some((other) => other.equals(address))) continue;
    const set = sets.find((set) => !wishes.has(set) && set.rangeOf(address) !== undefined);
    const range = set?.rangeOf(address);
    if (set === undefined || range === undefined) {
      throw new AddressUnavailableError(address, `it is in none of ${sets.join("; ")}`);
    }
    if (range.gateway.equals(address)) {
      throw new AddressUnavailableError(address, `it is the gateway of ${range.subnet}`);
    }
    if (!set.offers(address)) {
      throw new AddressUnavailableError(address, "the configuration excludes it");
    }
    wishes.set(set, address);
  }
  return wishes;
}

/** A requested address may be at rest: whoever asks for it by name knows why. */
function takeWish(network: NetworkRecords, address: IpAddress): IpAddress {
  const held = network.addresses.find(address);
  if (held === undefined) return address;
  const holder = held.attachment === undefined
    ? undefined
    : network.attachments.byId(held.attachment);
  throw new AddressUnavailableError(
    address,
    holder !== undefined
      ? `${holder.containerId} ${holder.ifname} holds it`
      : `it is ${held.kind}${held.note === undefined ? "" : ` (${held.note})`}`,
  );
}

/**
 * By the strategy among the free ones; else what a restart of the machine has freed; else the
 * address that rests the longest: late reuse is a courtesy, a pod without address is a failure.
 */
function choose(
  network: NetworkRecords,
  set: RangeSet,
  context: { request: AllocateRequest; ports: AllocatePorts; position: number },
): IpAddress {
  const { request, ports, position } = context;
  const pick = () =>
    strategyOf(request.strategy)({
      runs: network.runs,
      candidates: set.candidates,
      cursor: network.pools.cursor(position),
      random: ports.random,
    });
  let address = pick();
  while (address === undefined && reclaimBeforeBoot(network) > 0) address = pick();
  address ??= network.resting.longest(set.candidates);
  if (address !== undefined) return address;
  throw new ExhaustedError(network.name, set.toString(), poolUsage(network, set));
}
