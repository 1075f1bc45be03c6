import { assertEquals, assertThrows } from "@std/assert";
import { FileError } from "../sys/file_error.ts";
import { SecretFileError } from "../sys/secret.ts";
import { temporaryDirectory } from "../sys/testing.ts";
import { API_KEY_CREDENTIAL, ApiKeyError, readApiKey } from "./api_key.ts";

function write(path: string, text: string, mode = 0o600): string {
  Deno.writeTextFileSync(path, text, { mode });
  Deno.chmodSync(path, mode);
  return path;
}

Deno.test("the key comes from the configured file, else from systemd's credentials", () => {
  using directory = temporaryDirectory();
  const file = write(`${directory.path}/key`, "hskey-api-file\n");
  write(`${directory.path}/${API_KEY_CREDENTIAL}`, "hskey-api-credential", 0o400);
  const credentialsDirectory = directory.path;
  assertEquals(readApiKey({ file, credentialsDirectory }).expose(), "hskey-api-file");
  assertEquals(readApiKey({ credentialsDirectory }).expose(), "hskey-api-credential");
});

Deno.test("no key, an open file and a file with something else are refused", () => {
  using directory = temporaryDirectory();
  const path = `${directory.path}/key`;
  assertThrows(() => readApiKey({}), ApiKeyError, "names no file");
  assertThrows(() => readApiKey({ file: path }), FileError);
  write(path, "hskey-api-open", 0o644);
  assertThrows(() => readApiKey({ file: path }), SecretFileError, "group or others");
  Deno.removeSync(path);
  for (const text of ["api key: hskey", "hskey-api-1\nhskey-api-2", "short", "hskey-api-ä"]) {
    write(path, text);
    const error = assertThrows(() => readApiKey({ file: path }), ApiKeyError, "one word");
    assertEquals(Deno.inspect(error).includes("hskey"), false, "it does not show it");
    assertEquals(error.message.includes("hskey"), false);
  }
});
