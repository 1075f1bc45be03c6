import { assertEquals, assertThrows } from "@std/assert";
import { createLog, discardLog, LogOptionError, parseLevel, parseLogFormat } from "./log.ts";
import { recordingLog } from "./testing.ts";

function memoryLog(options: Partial<Parameters<typeof createLog>[0]> = {}) {
  const lines: string[] = [];
  const log = createLog({ sink: { write: (line) => lines.push(line) }, now: () => 0, ...options });
  return { log, lines };
}

Deno.test("createLog() writes the level asked for and those above", () => {
  const { log, lines } = memoryLog({ level: "WARN" });
  for (const level of ["debug", "info", "warn", "error", "fatal"] as const) log[level]("x");
  assertEquals(lines.map((line) => /level=(\w+)/.exec(line)?.[1]), ["WARN", "ERROR", "FATAL"]);
});

Deno.test("createLog() writes INFO and above as text unless told otherwise", () => {
  const { log, lines } = memoryLog();
  log.debug("no");
  log.info("yes");
  assertEquals(lines, ['time=1970-01-01T00:00:00.000Z level=INFO msg="yes"\n']);
});

Deno.test("createLog() writes JSON lines", () => {
  const { log, lines } = memoryLog({ format: "json" });
  log.info("up", { port: 9470 });
  assertEquals(lines, [
    '{"time":"1970-01-01T00:00:00.000Z","level":"INFO","msg":"up","port":9470}\n',
  ]);
});

Deno.test("Log.with() adds fields to every line, later ones winning", () => {
  const { log, lines } = memoryLog();
  const child = log.with({ cid: "a", if: "eth0" }).with({ if: "eth1" });
  child.info("x", { cid: "b" });
  log.info("y");
  assertEquals(lines.map((line) => line.split(" ").slice(2).join(" ")), [
    'msg="x" cid=b if=eth1\n',
    'msg="y"\n',
  ]);
});

Deno.test("Log does not make fields for a line that is not written", () => {
  const { log, lines } = memoryLog({ level: "ERROR" });
  let made = 0;
  const fields = () => ({ made: ++made });
  log.debug("x", fields);
  log.with({ a: 1 }).warn("x", fields);
  assertEquals([made, lines.length], [0, 0]);
  log.error("x", fields);
  assertEquals([made, lines.length], [1, 1]);
});

Deno.test("Log goes on when its fields cannot be made", () => {
  const log = recordingLog();
  log.with({ a: 1 }).info("lazy", () => {
    throw new Error("no route");
  });
  log.info("getter", {
    get bad() {
      throw new Error("gone");
    },
  });
  assertEquals(log.lines(), [
    'level=INFO msg="lazy" a=1 fields_error="no route"',
    'level=INFO msg="getter" fields_error=gone',
  ]);
});

Deno.test("Log methods work without their object", () => {
  const { log, lines } = memoryLog();
  const { info } = log;
  info("x");
  assertEquals(lines.length, 1);
});

Deno.test("discardLog keeps nothing and makes no fields", () => {
  discardLog.with({ a: 1 }).fatal("x", () => {
    throw new Error("must not run");
  });
});

Deno.test("recordingLog() keeps records of every level", () => {
  const log = recordingLog();
  log.with({ pod: "web-0" }).debug("seen", { n: 1 });
  assertEquals(log.records[0]?.fields, { pod: "web-0", n: 1 });
  assertEquals(log.lines(), ['level=DEBUG msg="seen" pod=web-0 n=1']);
});

Deno.test("parseLevel() accepts any case and lists the choices", () => {
  assertEquals(["debug", "Info", "WARN"].map(parseLevel), ["DEBUG", "INFO", "WARN"]);
  assertThrows(
    () => parseLevel("verbose"),
    LogOptionError,
    'Cannot parse log level "verbose": choose one of DEBUG, INFO, WARN, ERROR, FATAL',
  );
});

Deno.test("parseLogFormat() lists the choices", () => {
  assertEquals(["text", "json"].map(parseLogFormat), ["text", "json"]);
  assertThrows(
    () => parseLogFormat("xml"),
    LogOptionError,
    'Cannot parse log format "xml": choose one of text, json',
  );
});
