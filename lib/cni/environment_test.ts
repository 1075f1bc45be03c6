import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { type AttachmentCommand, readParameters } from "./environment.ts";
import { EnvironmentError } from "./errors.ts";

const COMPLETE = {
  CNI_CONTAINERID: "0f3a",
  CNI_NETNS: "/run/netns/blue",
  CNI_IFNAME: "eth0",
  CNI_ARGS: "IgnoreUnknown=1",
  CNI_PATH: "/opt/cni/bin:/usr/lib/cni",
};

function read(changes: Record<string, string>, command: AttachmentCommand = "ADD") {
  const env: Record<string, string> = { ...COMPLETE, ...changes };
  return readParameters(command, (name) => env[name]);
}

function problem(changes: Record<string, string>, command: AttachmentCommand = "ADD"): string {
  return assertThrows(() => read(changes, command), EnvironmentError).message;
}

Deno.test("readParameters() reads a complete environment", () => {
  assertEquals(read({}), {
    containerId: "0f3a",
    netns: "/run/netns/blue",
    ifname: "eth0",
    args: "IgnoreUnknown=1",
    path: ["/opt/cni/bin", "/usr/lib/cni"],
    allowOwnNetns: false,
  });
});

Deno.test("readParameters() names all variables that are missing; empty counts as missing", () => {
  const message = problem({ CNI_CONTAINERID: "", CNI_NETNS: "" });
  assertStringIncludes(message, "CNI_CONTAINERID, CNI_NETNS: ADD needs them");
});

Deno.test("readParameters() lets DEL come without a namespace, ADD and CHECK not", () => {
  assertEquals(read({ CNI_NETNS: "" }, "DEL").netns, "");
  assertStringIncludes(problem({ CNI_NETNS: "" }, "CHECK"), "CNI_NETNS");
});

for (const id of ["-x", ".", "../../etc", "a/b", "a b", "a\nb", "ä", "$(id)"]) {
  Deno.test(`readParameters() refuses the container id ${JSON.stringify(id)}`, () => {
    assertStringIncludes(problem({ CNI_CONTAINERID: id }), "CNI_CONTAINERID");
  });
}

for (
  const name of [
    ".",
    "..",
    "a/b",
    "a:b",
    "a b",
    "a\tb",
    "a\u00a0b",
    "à",
    "eth%d",
    "0123456789abcdef",
    "ääääääää",
  ]
) {
  Deno.test(`readParameters() refuses the interface name ${JSON.stringify(name)}`, () => {
    assertStringIncludes(problem({ CNI_IFNAME: name }), "CNI_IFNAME");
  });
}

for (const name of ["eth0", "0123456789abcde", "a.b", "a@b", "-", "ääääääa"]) {
  Deno.test(`readParameters() takes the interface name ${JSON.stringify(name)}`, () => {
    assertEquals(read({ CNI_IFNAME: name }).ifname, name);
  });
}

Deno.test("readParameters() does not take an empty part of CNI_PATH for the current directory", () => {
  assertEquals(read({ CNI_PATH: ":/opt/cni/bin::" }).path, ["/opt/cni/bin"]);
});

Deno.test("readParameters() understands CNI_NETNS_OVERRIDE as the Go library does", () => {
  const values = ["1", "true", "TRUE", "0", "yes", ""];
  const allowed = values.map((value) => read({ CNI_NETNS_OVERRIDE: value }).allowOwnNetns);
  assertEquals(allowed, [true, true, true, false, false, false]);
});
