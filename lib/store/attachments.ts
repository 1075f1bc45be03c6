/** Attachments: what ADD made for a container's interface, by the key of the specification. */

import { type Database, type Row } from "./database.ts";

/** What names an attachment inside a network (SPEC, "CNI_CONTAINERID" and "CNI_IFNAME"). */
export interface AttachmentKey {
  readonly containerId: string;
  readonly ifname: string;
}

/** What is known about an attachment beside its key. */
export interface AttachmentFacts {
  /** Path of the network namespace. */
  readonly netns?: string | undefined;
  readonly podNamespace?: string | undefined;
  readonly podName?: string | undefined;
  readonly podUid?: string | undefined;
  /** What the network plugin made for it, in the plugin's own words. */
  readonly record?: string | undefined;
}

/** An attachment as stored. */
export interface Attachment extends AttachmentKey, AttachmentFacts {
  readonly id: number;
  /** Whether it was made since the kernel started; what is older cannot be alive. */
  readonly sinceBoot: boolean;
  /** Wall clock in milliseconds since 1970. */
  readonly createdMs: number;
}

const COLUMNS =
  "id, container_id, ifname, boot, created_ms, netns, pod_namespace, pod_name, pod_uid, record";

/** The attachments of one network. */
export class Attachments {
  readonly #db: Database;
  readonly #network: number;
  readonly #boot: number;

  constructor(db: Database, network: number, boot: number) {
    this.#db = db;
    this.#network = network;
    this.#boot = boot;
  }

  find({ containerId, ifname }: AttachmentKey): Attachment | undefined {
    const row = this.#db.get(
      `SELECT ${COLUMNS} FROM attachment WHERE network = ? AND container_id = ? AND ifname = ?`,
      this.#network,
      containerId,
      ifname,
    );
    return row && this.#decode(row);
  }

  /** All interfaces of a container, in the order they were made. */
  ofContainer(containerId: string): Attachment[] {
    return this.#db.all(
      `SELECT ${COLUMNS} FROM attachment WHERE network = ? AND container_id = ? ORDER BY id`,
      this.#network,
      containerId,
    ).map((row) => this.#decode(row));
  }

  byId(id: number): Attachment | undefined {
    const row = this.#db.get(`SELECT ${COLUMNS} FROM attachment WHERE id = ?`, id);
    return row && this.#decode(row);
  }

  /** In the order they were made. */
  list(): Attachment[] {
    return this.#db.all(
      `SELECT ${COLUMNS} FROM attachment WHERE network = ? ORDER BY id`,
      this.#network,
    ).map((row) => this.#decode(row));
  }

  /** Some of those that a restart of the machine has ended. */
  beforeBoot(limit: number): Attachment[] {
    // Two ranges instead of `<>`: each is a range of the index.
    return ["<", ">"].flatMap((side) =>
      this.#db.all(
        `SELECT ${COLUMNS} FROM attachment WHERE network = ? AND boot ${side} ? LIMIT ?`,
        this.#network,
        this.#boot,
        limit,
      )
    ).slice(0, limit).map((row) => this.#decode(row));
  }

  /** Stores a new attachment and returns its row. */
  add(key: AttachmentKey, facts: AttachmentFacts, nowMs: number): number {
    return this.#db.run(
      "INSERT INTO attachment (network, container_id, ifname, boot, created_ms, netns," +
        " pod_namespace, pod_name, pod_uid, record) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      this.#network,
      key.containerId,
      key.ifname,
      this.#boot,
      nowMs,
      facts.netns ?? null,
      facts.podNamespace ?? null,
      facts.podName ?? null,
      facts.podUid ?? null,
      facts.record ?? null,
    ).rowid;
  }

  /** The attachment is made once more, after a restart of the machine. */
  renew(id: number, facts: AttachmentFacts, nowMs: number): void {
    this.#db.run(
      "UPDATE attachment SET boot = ?, created_ms = ?, netns = ?, pod_namespace = ?," +
        " pod_name = ?, pod_uid = ?, record = ? WHERE id = ?",
      this.#boot,
      nowMs,
      facts.netns ?? null,
      facts.podNamespace ?? null,
      facts.podName ?? null,
      facts.podUid ?? null,
      facts.record ?? null,
      id,
    );
  }

  remove(id: number): void {
    this.#db.run("DELETE FROM attachment WHERE id = ?", id);
  }

  #decode(row: Row): Attachment {
    const text = (value: unknown) => typeof value === "string" ? value : undefined;
    return {
      id: Number(row.id),
      containerId: String(row.container_id),
      ifname: String(row.ifname),
      sinceBoot: Number(row.boot) === this.#boot,
      createdMs: Number(row.created_ms),
      netns: text(row.netns),
      podNamespace: text(row.pod_namespace),
      podName: text(row.pod_name),
      podUid: text(row.pod_uid),
      record: text(row.record),
    };
  }
}
