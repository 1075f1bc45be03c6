import { assertEquals, assertThrows } from "@std/assert";
import { parseServerUrl, ServerUrlError } from "./server_url.ts";

Deno.test("a URL names the server, and tells whether others can listen", () => {
  const cases: Record<string, readonly [string, boolean]> = {
    "https://hs.example.com": ["https://hs.example.com", false],
    "https://hs.example.com/": ["https://hs.example.com", false],
    "https://example.com/hs//": ["https://example.com/hs", false],
    "http://hs.example.com:8080": ["http://hs.example.com:8080", true],
    "http://127.0.0.1:8080": ["http://127.0.0.1:8080", false],
    "http://[::1]:8080": ["http://[::1]:8080", false],
    "http://localhost:8080": ["http://localhost:8080", false],
    "http://10.0.0.1": ["http://10.0.0.1", true],
  };
  for (const [text, [base, isClear]] of Object.entries(cases)) {
    assertEquals(parseServerUrl(text), { base, isClear }, text);
  }
});

Deno.test("what is no URL of a server is refused, without repeating a password", () => {
  for (const text of ["", "hs.example.com", "ftp://hs", "https://hs?x", "https://hs#x"]) {
    assertThrows(() => parseServerUrl(text), ServerUrlError);
  }
  for (const text of ["https://ada:hunter2@hs", "ftp://ada:hunter2@hs", "ada:hunter2@hs"]) {
    const error = assertThrows(() => parseServerUrl(text), ServerUrlError);
    assertEquals(error.message.includes("hunter2"), false, error.message);
  }
});
