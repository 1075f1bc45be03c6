import { assertEquals } from "@std/assert";
import { parseCniArgs, podOf } from "./cni_args.ts";

Deno.test("parseCniArgs() keeps what is a pair and leaves out the rest", () => {
  const args = parseCniArgs("A=1;;bare;B=x=y;=z;C=;");
  assertEquals([...args], [["A", "1"], ["B", "x=y"], ["C", ""]]);
});

Deno.test("podOf() needs a namespace and a name", () => {
  const pod = podOf(parseCniArgs("K8S_POD_NAMESPACE=web;K8S_POD_NAME=a;K8S_POD_UID=u1"));
  assertEquals(pod, { namespace: "web", name: "a", uid: "u1" });
  assertEquals(podOf(parseCniArgs("K8S_POD_NAME=a")), undefined);
});
