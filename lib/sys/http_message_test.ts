import { assertThrows } from "@std/assert";
import { encodeRequest } from "./http_message.ts";

const GET = { method: "GET", path: "/", host: "local" } as const;

Deno.test("text that would change the message is refused", () => {
  for (const path of ["x", "/a b", "/a\r\nHost: other", "/ü", ""]) {
    assertThrows(() => encodeRequest({ ...GET, path }), TypeError, "it is no path");
  }
  for (const [name, value] of [["A\r\nB", "c"], ["A", "b\r\nC: d"], ["A B", "c"], ["A", "ü"]]) {
    const headers = { [name ?? ""]: value ?? "" };
    assertThrows(() => encodeRequest({ ...GET, headers }), TypeError, "not printable");
  }
});
