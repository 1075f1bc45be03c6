import { assertEquals } from "@std/assert";
import { FakeClock } from "../sys/testing.ts";
import { tellOthers } from "./afterwards.ts";
import { CallNotes } from "./call_notes.ts";
import { readParameters } from "./environment.ts";
import { toCniError } from "./error_code.ts";
import { EnvironmentError } from "./errors.ts";
import { makeHint } from "./hint.ts";

const ENV: Readonly<Record<string, string>> = {
  CNI_CONTAINERID: "c1",
  CNI_NETNS: "/run/netns/one",
  CNI_IFNAME: "eth0",
  CNI_ARGS: "K8S_POD_NAMESPACE=web;K8S_POD_NAME=front-0;K8S_POD_UID=0f3a",
};

Deno.test("makeHint() tells who, what and how long", () => {
  const clock = new FakeClock();
  const notes = new CallNotes("ADD", clock);
  notes.parameters = readParameters("ADD", (name) => ENV[name]);
  notes.config = { cniVersion: "1.0.0", name: "net", raw: { enable_network_policy: true } };
  notes.addresses = ["10.0.0.2"];
  notes.mark("allocate");
  assertEquals(makeHint({ notes, failure: undefined }), {
    version: 1,
    verb: "ADD",
    outcome: "success",
    network: "net",
    containerId: "c1",
    ifname: "eth0",
    netns: "/run/netns/one",
    pod: { namespace: "web", name: "front-0", uid: "0f3a" },
    addresses: ["10.0.0.2"],
    networkPolicy: true,
    phasesMs: notes.phasesMs(),
  });
});

Deno.test("makeHint() of a call that failed early has its error, and not its text", () => {
  const error = new EnvironmentError(["CNI_NETNS"], "secret words");
  const failure = { error, told: toCniError(error) };
  const { phasesMs: _, ...hint } = makeHint({ notes: new CallNotes("ADD"), failure });
  assertEquals(hint, {
    version: 1,
    verb: "ADD",
    outcome: "failure",
    addresses: [],
    networkPolicy: false,
    error: { class: "EnvironmentError", code: 4 },
  });
});

Deno.test("CallNotes adds up phases; their sum is the total", async () => {
  const clock = new FakeClock();
  const notes = new CallNotes("ADD", clock);
  const before = notes.phasesMs().total ?? 0;
  for (const phase of ["link", "filter", "link"]) {
    await clock.advance(10);
    notes.mark(phase);
  }
  const { start: _, ...phases } = notes.phasesMs();
  assertEquals(phases, { link: 20, filter: 10, total: before + 30 });
});

const QUIET = { stderr: { write: () => {} } };

/** Where a call looks for the daemon. */
function askedFor(
  config: Record<string, unknown>,
  env: Record<string, string>,
  command = "DEL",
): string[] {
  const asked: string[] = [];
  const notes = new CallNotes(command);
  notes.config = { cniVersion: "1.0.0", name: "net", raw: config };
  tellOthers({ notes, failure: undefined }, { ...QUIET, env: (name) => env[name] }, (path) => {
    asked.push(path);
    return false;
  });
  return asked;
}

Deno.test("tellOthers() looks for the socket of the configuration, the environment, the node", () => {
  const env = { HEADCNI_DAEMON_SOCKET: "/env.sock" };
  assertEquals(askedFor({ daemonSocket: "/key.sock" }, env), ["/key.sock"]);
  assertEquals(askedFor({}, env), ["/env.sock"]);
  assertEquals(askedFor({}, {}), ["/run/headcni/headcni.sock"]);
  assertEquals(askedFor({ daemonSocket: "" }, env), []);
  assertEquals(askedFor({}, {}, "CHECK"), []);
});

Deno.test("tellOthers() never throws", () => {
  const end = { notes: new CallNotes("ADD"), failure: undefined };
  tellOthers(end, { ...QUIET, env: () => undefined }, () => {
    throw new Error("no such luck");
  });
});
