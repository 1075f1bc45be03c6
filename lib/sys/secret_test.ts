import { assert, assertEquals, assertFalse, assertThrows } from "@std/assert";
import { FileError } from "./file_error.ts";
import { readSecretFile, redact, Secret, SecretFileError } from "./secret.ts";
import { temporaryDirectory } from "./testing.ts";

/** Not a literal: the type checker would want `@types/node` for this one function. */
const NODE_UTIL: string = "node:util";

const TEXT = "hskey-auth-hunter2";

Deno.test("Secret shows itself only by expose()", async () => {
  const { inspect }: { inspect(value: unknown, options?: object): string } = await import(
    NODE_UTIL
  );
  const secret = new Secret(TEXT);
  const views: unknown[] = [
    secret.toString(),
    `${secret}`,
    "" + secret,
    String(secret),
    JSON.stringify(secret),
    JSON.stringify({ nested: [secret] }),
    Deno.inspect(secret),
    Deno.inspect({ nested: [secret] }, { depth: 9, showHidden: true, getters: true }),
    inspect(secret, { showHidden: true, customInspect: false, depth: 9 }),
    inspect({ secret }),
    JSON.stringify(Object.getOwnPropertyDescriptors(secret)),
    JSON.stringify({ ...secret }),
    JSON.stringify(structuredClone(secret)),
    Object.keys(secret).join(),
    new Error(`Cannot use ${secret}`).message,
  ];
  for (const view of views) assertFalse(String(view).includes("hunter2"), String(view));
  assertEquals([`${secret}`, JSON.stringify(secret)], ["***", '"***"']);
  assertEquals(secret.expose(), TEXT);
});

Deno.test("Secret.equals() compares what is hidden", () => {
  const table: [a: string, b: string, equal: boolean][] = [
    ["abc", "abc", true],
    ["abc", "abd", false],
    ["abc", "ab", false],
    ["ab", "abc", false],
    ["", "", true],
    ["", "a", false],
    ["a\0", "a", false],
    ["ü", "ü", true],
  ];
  for (const [a, b, equal] of table) {
    assertEquals(new Secret(a).equals(new Secret(b)), equal, JSON.stringify([a, b]));
  }
});

Deno.test("redact() replaces every occurrence, plain and URL-encoded", () => {
  const secrets = [new Secret("ab+c"), new Secret("ab+c/de"), new Secret("")];
  assertEquals(
    redact("k=ab+c/de k=ab+c u=ab%2Bc%2Fde again ab+c end", secrets),
    "k=*** k=*** u=*** again *** end",
  );
  assertEquals(redact("nothing here", []), "nothing here");
});

function secretFile(root: string, content: string, mode: number): string {
  const path = `${root}/key`;
  Deno.writeTextFileSync(path, content);
  Deno.chmodSync(path, mode);
  return path;
}

Deno.test("readSecretFile() takes the content without one trailing newline", () => {
  using root = temporaryDirectory();
  const table: [content: string, secret: string][] = [
    ["key", "key"],
    ["key\n", "key"],
    ["key\r\n", "key"],
    ["key\n\n", "key\n"],
    [" key ", " key "],
  ];
  for (const [content, secret] of table) {
    const path = secretFile(root.path, content, 0o600);
    assertEquals(readSecretFile(path).expose(), secret, JSON.stringify(content));
  }
  assertEquals(readSecretFile(secretFile(root.path, "key", 0o400)).expose(), "key");
});

Deno.test("readSecretFile() refuses a file others have access to and says what to do", () => {
  using root = temporaryDirectory();
  for (const mode of [0o640, 0o604, 0o620, 0o666]) {
    const path = secretFile(root.path, TEXT, mode);
    const error = assertThrows(() => readSecretFile(path), SecretFileError);
    assertEquals(
      error.message,
      `Cannot read secret file ${path}: group or others have access to it (mode 0${
        mode.toString(8)
      })`,
    );
    assert(error.remedy?.startsWith(`chmod 600 ${path}`), error.remedy);
  }
});

Deno.test("readSecretFile() judges the file a link points to", () => {
  using root = temporaryDirectory();
  const path = secretFile(root.path, TEXT, 0o644);
  Deno.symlinkSync(path, `${root.path}/link`);
  assertThrows(() => readSecretFile(`${root.path}/link`), SecretFileError, "0644");
  Deno.chmodSync(path, 0o600);
  assertEquals(readSecretFile(`${root.path}/link`).expose(), TEXT);
});

Deno.test("readSecretFile() refuses what holds no secret", async () => {
  using root = temporaryDirectory();
  const table: [content: string, reason: string][] = [
    ["", "it is empty"],
    ["\n", "it is empty"],
    ["x".repeat(70_000), "it is larger than 65536 bytes"],
  ];
  for (const [content, reason] of table) {
    const path = secretFile(root.path, content, 0o600);
    assertEquals(assertThrows(() => readSecretFile(path), SecretFileError).reason, reason);
  }
  assertThrows(() => readSecretFile(root.path), SecretFileError, "it is not a regular file");
  // Opening a pipe nobody writes to would never return.
  await new Deno.Command("mkfifo", { args: ["-m", "600", `${root.path}/pipe`] }).output();
  assertThrows(() => readSecretFile(`${root.path}/pipe`), SecretFileError, "not a regular file");
});

Deno.test("readSecretFile() tells a missing file as any other", () => {
  const error = assertThrows(() => readSecretFile("/nonexistent/key"), FileError);
  assertEquals(error.code, "NotFound");
  assertEquals(error.operation, "read secret file");
});
