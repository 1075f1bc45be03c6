/**
 * Chains: which plugins may have run for an attachment, with what configuration, and what
 * they answered. Who runs them is `lib/cni/chain`.
 */

import { type AttachmentKey } from "./attachments.ts";
import { type Database, type Row } from "./database.ts";

/**
 * - `started`: its ADD was about to run; whether it did is not known.
 * - `added`: its ADD succeeded.
 * - `left`: a DEL of it failed.
 */
export type StepStatus = "started" | "added" | "left";

/** One plugin of a chain. */
export interface ChainStep {
  readonly position: number;
  readonly type: string;
  /** JSON: the configuration it was called with, without `prevResult`. */
  readonly config: string;
  /** JSON: what it answered. */
  readonly result: string | undefined;
  readonly status: StepStatus;
  /** Why its DEL failed. */
  readonly error: string | undefined;
}

/** What is known about the call that made a chain. */
export interface ChainFacts {
  /** Path of the network namespace. */
  readonly netns: string | undefined;
  /** `CNI_ARGS`. */
  readonly args: string | undefined;
}

/** A chain as stored. */
export interface StoredChain extends AttachmentKey, ChainFacts {
  readonly id: number;
  /** Whether it was made since the kernel started. */
  readonly sinceBoot: boolean;
  /** Wall clock in milliseconds since 1970. */
  readonly createdMs: number;
  /** Whether its ADD came to its end. */
  readonly isWhole: boolean;
  /** In the order of the ADD. */
  readonly steps: readonly ChainStep[];
}

const COLUMNS = "id, container_id, ifname, boot, created_ms, netns, args, whole";

/** The chains of one network. Call what changes something in a transaction. */
export class Chains {
  readonly #db: Database;
  readonly #network: number;
  readonly #boot: number;

  constructor(db: Database, network: number, boot: number) {
    this.#db = db;
    this.#network = network;
    this.#boot = boot;
  }

  find({ containerId, ifname }: AttachmentKey): StoredChain | undefined {
    const row = this.#db.get(
      `SELECT ${COLUMNS} FROM chain WHERE network = ? AND container_id = ? AND ifname = ?`,
      this.#network,
      containerId,
      ifname,
    );
    return row && this.#decode(row);
  }

  /** Whether there is one; cheaper than {@linkcode find}. */
  has({ containerId, ifname }: AttachmentKey): boolean {
    const sql = "SELECT 1 FROM chain WHERE network = ? AND container_id = ? AND ifname = ?";
    return this.#db.get(sql, this.#network, containerId, ifname) !== undefined;
  }

  /** Whether the network has any. */
  any(): boolean {
    return this.#db.get("SELECT 1 FROM chain WHERE network = ? LIMIT 1", this.#network) !==
      undefined;
  }

  /** In the order they were made. */
  list(): StoredChain[] {
    return this.#db.all(`SELECT ${COLUMNS} FROM chain WHERE network = ? ORDER BY id`, this.#network)
      .map((row) => this.#decode(row));
  }

  /** Stores a new chain without steps and returns its row. */
  add(key: AttachmentKey, facts: ChainFacts, nowMs: number): number {
    return this.#db.run(
      "INSERT INTO chain (network, container_id, ifname, boot, created_ms, netns, args)" +
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
      this.#network,
      key.containerId,
      key.ifname,
      this.#boot,
      nowMs,
      facts.netns ?? null,
      facts.args ?? null,
    ).rowid;
  }

  /** The plugin at the next position is about to run. */
  startStep(id: number, step: Pick<ChainStep, "position" | "type" | "config">): void {
    this.#db.run(
      "INSERT INTO chain_step (chain, position, type, config, status)" +
        " VALUES (?, ?, ?, ?, 'started')",
      id,
      step.position,
      step.type,
      step.config,
    );
  }

  /** Its ADD succeeded with `result`. */
  endStep(id: number, position: number, result: string): void {
    this.#db.run(
      "UPDATE chain_step SET status = 'added', result = ? WHERE chain = ? AND position = ?",
      result,
      id,
      position,
    );
  }

  /** The ADD of the whole chain came to its end. */
  complete(id: number): void {
    this.#db.run("UPDATE chain SET whole = 1 WHERE id = ?", id);
  }

  /** The DEL of a plugin failed: it has to be tried again. */
  leaveStep(id: number, position: number, error: string): void {
    this.#db.run(
      "UPDATE chain_step SET status = 'left', error = ? WHERE chain = ? AND position = ?",
      error,
      id,
      position,
    );
    this.#db.run("UPDATE chain SET whole = 0 WHERE id = ?", id);
  }

  /** The DEL of a plugin succeeded. The chain goes with its last step. */
  removeStep(id: number, position: number): void {
    this.#db.run("DELETE FROM chain_step WHERE chain = ? AND position = ?", id, position);
    this.#db.run("UPDATE chain SET whole = 0 WHERE id = ?", id);
    this.removeIfEmpty(id);
  }

  /** Removes a chain that has no steps. */
  removeIfEmpty(id: number): void {
    this.#db.run(
      "DELETE FROM chain WHERE id = ? AND NOT EXISTS (SELECT 1 FROM chain_step WHERE chain = ?)",
      id,
      id,
    );
  }

  #decode(row: Row): StoredChain {
    return {
      id: Number(row.id),
      containerId: String(row.container_id),
      ifname: String(row.ifname),
      sinceBoot: Number(row.boot) === this.#boot,
      createdMs: Number(row.created_ms),
      netns: text(row.netns),
      args: text(row.args),
      isWhole: row.whole === 1,
      steps: this.#steps(Number(row.id)),
    };
  }

  #steps(id: number): ChainStep[] {
    return this.#db.all(
      "SELECT position, type, config, result, status, error FROM chain_step" +
        " WHERE chain = ? ORDER BY position",
      id,
    ).map((row) => ({
      position: Number(row.position),
      type: String(row.type),
      config: String(row.config),
      result: text(row.result),
      status: row.status as StepStatus,
      error: text(row.error),
    }));
  }
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
