/**
 * Taking over what host-local has given out.
 *
 * host-local keeps a directory per network with a file per address: its name is the address,
 * its content the container id and, on a second line, the name of the interface. The files
 * `last_reserved_ip.N` hold the last address of range set N. Nothing is changed there.
 */

import { type IpAddress, parseAddress } from "../ip/address.ts";
import { AddressError } from "../ip/errors.ts";
import { type NetworkRecords } from "../store/network.ts";
import { type Store } from "../store/store.ts";
import { FileError } from "../sys/file_error.ts";
import { type Files } from "../sys/files.ts";

/** An address of a directory of host-local. */
export interface HostLocalEntry {
  readonly address: IpAddress;
  /** Name of the file. */
  readonly file: string;
  /** Empty if the file is: host-local lost power or space while it wrote. */
  readonly containerId: string;
  /** Old versions wrote none. */
  readonly ifname: string | undefined;
}

/** What is in a directory of host-local. */
export interface HostLocalNetwork {
  readonly name: string;
  readonly entries: readonly HostLocalEntry[];
  /** By range set. */
  readonly cursors: ReadonlyMap<number, IpAddress>;
  /** Files that are none of host-local's, or that cannot be read, with the reason. */
  readonly junk: readonly string[];
}

/** What became of it. */
export interface ImportReport {
  readonly network: string;
  readonly imported: number;
  /** Held by the same container already. */
  readonly present: number;
  /** Addresses that somebody else holds in the store, or that two files name. */
  readonly duplicates: readonly string[];
  /** Kept, but with something to say about it. */
  readonly warnings: readonly string[];
  readonly junk: readonly string[];
}

/** The interface of a Kubernetes pod, where host-local does not say. */
const DEFAULT_IFNAME = "eth0";

/** Reads the directory of one network, or each network of a directory of networks. */
export function readHostLocal(
  files: Pick<Files, "list" | "readText">,
  directory: string,
): HostLocalNetwork[] {
  const path = directory.replace(/\/+$/, "");
  const entries = files.list(path);
  const hasAddresses = entries.some(({ name, kind }) => kind === "file" && isAddress(name));
  const folders = entries.filter(({ kind }) => kind === "directory");
  if (!hasAddresses && folders.length > 0) {
    return folders.map(({ name }) => readNetwork(files, `${path}/${name}`));
  }
  return [readNetwork(files, path)];
}

function readNetwork(files: Pick<Files, "list" | "readText">, path: string): HostLocalNetwork {
  const entries: HostLocalEntry[] = [];
  const cursors = new Map<number, IpAddress>();
  const junk: string[] = [];
  for (const { name, kind } of files.list(path)) {
    if (name === "lock") continue;
    try {
      const position = /^last_reserved_ip\.(\d+)$/.exec(name)?.[1];
      if (kind !== "file") junk.push(`${name}: not a file`);
      else if (position !== undefined) {
        cursors.set(Number(position), parseAddress(files.readText(`${path}/${name}`).trim()));
      } else entries.push(parseEntry(name, files.readText(`${path}/${name}`)));
    } catch (error) {
      if (!(error instanceof AddressError || error instanceof FileError)) throw error;
      junk.push(`${name}: ${error.reason}`);
    }
  }
  return { name: path.slice(path.lastIndexOf("/") + 1), entries, cursors, junk };
}

/** On Windows colons are underscores; nobody would move such a directory here, but it costs nothing. */
function parseEntry(file: string, content: string): HostLocalEntry {
  const address = parseAddress(file.replaceAll("_", ":"));
  const [containerId = "", ifname = ""] = content.trim().split(/\r?\n/).map((line) => line.trim());
  return { address, file, containerId, ifname: ifname === "" ? undefined : ifname };
}

function isAddress(name: string): boolean {
  try {
    parseAddress(name.replaceAll("_", ":"));
    return true;
  } catch {
    return false;
  }
}

/**
 * Puts the addresses into the store. Doing it twice changes nothing the second time. Call it in
 * a transaction.
 */
export function importHostLocal(
  store: Store,
  source: HostLocalNetwork,
  nowMs: number,
): ImportReport {
  const network = store.ensureNetwork(source.name);
  const report = { imported: 0, present: 0 };
  const duplicates: string[] = [];
  const warnings: string[] = [];
  const seen = new Map<string, string>();
  for (const entry of source.entries.toSorted(byAddress)) {
    const text = entry.address.toString();
    const twin = seen.get(text);
    seen.set(text, entry.file);
    const outcome = twin === undefined
      ? importEntry(network, entry, nowMs)
      : `also in file ${twin}`;
    if (outcome === "imported" || outcome === "present") report[outcome]++;
    else duplicates.push(`${entry.file} (${entry.containerId}): ${outcome}`);
    if (outcome === "imported") warnings.push(...warningsOf(entry));
  }
  for (const [position, address] of source.cursors) network.pools.setCursor(position, address);
  return { network: source.name, ...report, duplicates, warnings, junk: source.junk };
}

/** Of two files for one address the one that host-local itself would write comes first. */
function byAddress(a: HostLocalEntry, b: HostLocalEntry): number {
  const isOdd = ({ file, address }: HostLocalEntry) => file === address.toString() ? 0 : 1;
  return a.address.compare(b.address) || isOdd(a) - isOdd(b);
}

function warningsOf({ file, containerId, ifname }: HostLocalEntry): string[] {
  if (containerId === "") return [`${file}: empty; kept until gc finds it unused`];
  return ifname === undefined ? [`${file}: no interface name; taken for ${DEFAULT_IFNAME}`] : [];
}

/** `imported`, `present`, or who holds it instead. */
function importEntry(network: NetworkRecords, entry: HostLocalEntry, nowMs: number): string {
  const { address, containerId, ifname = DEFAULT_IFNAME } = entry;
  const held = network.addresses.find(address);
  if (held !== undefined) {
    const holder = network.attachments.byId(held.attachment ?? -1);
    if (holder === undefined) {
      return containerId === "" ? "present" : `the store has it ${held.kind}`;
    }
    return holder.containerId === containerId && holder.ifname === ifname
      ? "present"
      : `${holder.containerId} ${holder.ifname} holds it in the store`;
  }
  if (containerId === "") {
    const note = "empty file of host-local";
    network.hold(address, { kind: "found", note, boot: network.boot });
    return "imported";
  }
  const key = { containerId, ifname };
  const attachment = network.attachments.find(key)?.id ?? network.attachments.add(key, {}, nowMs);
  const position = network.addresses.ofAttachment(attachment).length;
  network.hold(address, { kind: "held", attachment, position });
  return "imported";
}
