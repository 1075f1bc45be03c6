/** Everything the store knows about one network, and the moves between its tables. */

import { type IpAddress } from "../ip/address.ts";
import { toPlace } from "./address_key.ts";
import { HeldAddresses, type Hold } from "./addresses.ts";
import { Attachments } from "./attachments.ts";
import { Chains } from "./chains.ts";
import { type Database } from "./database.ts";
import { Pools } from "./pools.ts";
import { RestingAddresses, type RestingMoment } from "./resting.ts";
import { TakenRuns } from "./taken_runs.ts";

/**
 * The records of one network. The four moves below keep the tables in step: an address is
 * free, held or at rest, and the runs hold exactly the last two. Call them in a transaction.
 */
export class NetworkRecords {
  readonly name: string;
  /** The current row of the table `boot`. */
  readonly boot: number;
  readonly attachments: Attachments;
  readonly addresses: HeldAddresses;
  readonly resting: RestingAddresses;
  readonly pools: Pools;
  readonly runs: TakenRuns;
  readonly chains: Chains;

  constructor(db: Database, network: { id: number; name: string }, moment: RestingMoment) {
    this.name = network.name;
    this.boot = moment.boot;
    this.attachments = new Attachments(db, network.id, moment.boot);
    this.addresses = new HeldAddresses(db, network.id);
    this.resting = new RestingAddresses(db, network.id, moment);
    this.pools = new Pools(db, network.id);
    this.runs = new TakenRuns(db, network.id);
    this.chains = new Chains(db, network.id, moment.boot);
  }

  /** free or at rest → held. */
  hold(address: IpAddress, hold: Hold): void {
    if (!this.resting.remove(address)) this.runs.take(toPlace(address));
    this.addresses.add(address, hold);
  }

  /** held → at rest. */
  rest(address: IpAddress): void {
    this.addresses.remove(address);
    this.resting.add(address);
  }

  /** held → free. */
  drop(address: IpAddress): void {
    this.addresses.remove(address);
    this.runs.free(toPlace(address));
  }

  /** at rest → free. */
  wake(address: IpAddress): void {
    this.resting.remove(address);
    this.runs.free(toPlace(address));
  }
}
