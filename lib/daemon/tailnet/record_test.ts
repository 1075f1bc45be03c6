import { assertEquals, assertThrows } from "@std/assert";
import { JsonShapeError } from "../../sys/json_view.ts";
import { MemoryFiles } from "../../sys/testing.ts";
import { EMPTY_RECORD, readRecord, writeRecord } from "./record.ts";
import { PODS, prefixes } from "./testing.ts";

Deno.test("what is written down is read again, by nobody else", () => {
  const files = new MemoryFiles();
  files.makeDirectory("/state");
  assertEquals(readRecord(files, "/state/tailnet.json"), EMPTY_RECORD);
  const record = {
    originalPrefs: { routeAll: false, noStatefulFiltering: true },
    advertised: PODS,
    approved: PODS,
    learned: prefixes("10.244.2.0/24"),
  };
  writeRecord(files, "/state/tailnet.json", record);
  assertEquals(readRecord(files, "/state/tailnet.json"), record);
  assertEquals(files.stat("/state/tailnet.json")?.mode, 0o600);
});

Deno.test("a record that is none is not taken for an empty one", () => {
  const files = new MemoryFiles();
  files.makeDirectory("/state");
  files.writeAtomic("/state/tailnet.json", "{");
  assertThrows(() => readRecord(files, "/state/tailnet.json"), JsonShapeError);
});
