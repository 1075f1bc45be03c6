import { assert, assertEquals } from "@std/assert";
import { FileFollower } from "./follow_file.ts";
import { FakeClock, temporaryDirectory } from "./testing.ts";

const append = (path: string, text: string) => Deno.writeTextFileSync(path, text, { append: true });

Deno.test("lines appended from now on come out whole, the old ones do not", () => {
  using root = temporaryDirectory();
  const path = `${root.path}/log`;
  append(path, "old\n");
  const lines: string[] = [];
  const follower = new FileFollower(path, { onLine: (line) => lines.push(line) });
  append(path, "one\n\ntw");
  follower.look();
  append(path, "o ü\n");
  follower.look();
  follower.look();
  assertEquals(lines, ["one", "two ü"]);
});

Deno.test("a file that is missing is looked for, one that was emptied starts anew", () => {
  using root = temporaryDirectory();
  const path = `${root.path}/log`;
  const lines: string[] = [];
  const follower = new FileFollower(path, { onLine: (line) => lines.push(line) });
  follower.look();
  append(path, "first line\n");
  follower.look();
  Deno.writeTextFileSync(path, "new\n");
  follower.look();
  assertEquals(lines, ["first line", "new"]);
});

Deno.test("a file that grows too large is emptied while its writer has it open", () => {
  using root = temporaryDirectory();
  const path = `${root.path}/log`;
  const lines: string[] = [];
  const options = { onLine: (line: string) => lines.push(line), maxBytes: 100 };
  const follower = new FileFollower(path, options);
  using writer = Deno.openSync(path, { append: true, create: true });
  const write = (text: string) => writer.writeSync(new TextEncoder().encode(text));
  write("x".repeat(200) + "\n");
  follower.look();
  assertEquals(Deno.statSync(path).size, 0);
  write("after\n");
  follower.look();
  assertEquals([lines.length, lines[1]], [2, "after"]);
});

Deno.test("more than can be read at a look is skipped, and that is said", () => {
  using root = temporaryDirectory();
  const path = `${root.path}/log`;
  append(path, "");
  const lines: string[] = [];
  const follower = new FileFollower(path, { onLine: (line) => lines.push(line) });
  append(path, `${"y".repeat(99)}\n`.repeat(10_000) + "last\n");
  follower.look();
  assert(lines[0]?.includes("more was written"), lines[0]);
  assertEquals(lines.at(-1), "last");
  assert(lines.length < 3000 && lines.slice(1, -1).every((line) => line.length === 99));
});

Deno.test("following looks at intervals, and once more at the end", async () => {
  using root = temporaryDirectory();
  const path = `${root.path}/log`;
  const clock = new FakeClock();
  const stop = new AbortController();
  const lines: string[] = [];
  const follower = new FileFollower(path, { onLine: (line) => lines.push(line) });
  const done = follower.follow({ signal: stop.signal, intervalMs: 500, clock });
  append(path, "one\n");
  await clock.advance(499);
  assertEquals(lines, []);
  await clock.advance(1);
  assertEquals(lines, ["one"]);
  append(path, "two\n");
  stop.abort();
  await done;
  assertEquals(lines, ["one", "two"]);
});
