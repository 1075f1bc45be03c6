/** Fills both stores with attachments that exist nowhere else. */

import { IpAddress, parsePrefix } from "../../lib/ip/mod.ts";
import { withStore } from "../../lib/store/mod.ts";
import { OWN_NETWORK, PEER_NETWORK, type StorePlaces, SUBNET } from "./chains.ts";

/** What the network plugin writes down about a pod without wishes. */
const RECORD = JSON.stringify({ masquerade: true, antiSpoof: true, hostPorts: [] });

/** The attachments number `from` up to `to`: the same addresses in both stores. */
export async function fill(places: StorePlaces, from: number, to: number): Promise<void> {
  await fillHeadcni(places.headcni, from, to);
  fillHostLocal(`${places.hostLocal}/${PEER_NETWORK}`, from, to);
}

/** From the top of the subnet down: those under test are given out from the bottom. */
function addressOf(index: number): IpAddress {
  const { address } = parsePrefix(SUBNET);
  return new IpAddress(4, address.value + 0xff00n - BigInt(index));
}

function containerId(index: number): string {
  return index.toString(16).padStart(64, "0");
}

async function fillHeadcni(directory: string, from: number, to: number): Promise<void> {
  const options = { directory, observe: () => Promise.resolve([]) };
  await withStore(options, (store) =>
    store.transaction(() => {
      const network = store.ensureNetwork(OWN_NETWORK);
      for (let index = from; index < to; index++) {
        const key = { containerId: containerId(index), ifname: "eth0" };
        const netns = `/var/run/netns/cni-${index}`;
        const attachment = network.attachments.add(key, { netns, record: RECORD }, Date.now());
        network.hold(addressOf(index), { kind: "held", attachment, position: 0 });
      }
    }));
}

/** A file per address, named after it: container and interface, with CRLF between them. */
function fillHostLocal(directory: string, from: number, to: number): void {
  Deno.mkdirSync(directory, { recursive: true });
  for (let index = from; index < to; index++) {
    Deno.writeTextFileSync(
      `${directory}/${addressOf(index)}`,
      `${containerId(index)}\r\neth0`,
    );
  }
}
