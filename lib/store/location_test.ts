import { assertEquals, assertThrows } from "@std/assert";
import { StoreError } from "./errors.ts";
import { dataDirectory, DEFAULT_DATA_DIR } from "./location.ts";

Deno.test("the configuration is stronger than the environment, both than the default", () => {
  const env = (name: string) => name === "HEADCNI_DATA_DIR" ? "/env" : undefined;
  assertEquals(dataDirectory("/conf/", env), "/conf");
  assertEquals(dataDirectory(undefined, env), "/env");
  assertEquals(dataDirectory("", () => ""), DEFAULT_DATA_DIR);
});

Deno.test("a relative data directory is refused", () => {
  assertThrows(() => dataDirectory("data", () => undefined), StoreError, "absolute path");
});
