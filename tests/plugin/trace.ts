/** What a program started and which files it made, as strace(1) saw it. */

/** System calls by which programs are started. */
const STARTING = ["execve", "execveat"];

/** System calls by which names appear in the file system. */
const MAKING = [
  "open",
  "openat",
  "openat2",
  "creat",
  "mkdir",
  "mkdirat",
  "mknod",
  "mknodat",
  "link",
  "linkat",
  "symlink",
  "symlinkat",
  "rename",
  "renameat",
  "renameat2",
];

/** What was seen. */
export interface Trace {
  /** Programs, in the order they were started. */
  readonly started: readonly string[];
  /** Paths that were opened for writing, or made, with success. */
  readonly written: readonly string[];
}

/** The command that runs a program and writes what it does to `file`. */
export function tracing(file: string): readonly string[] {
  const calls = [...STARTING, ...MAKING].join(",");
  return ["strace", "-f", "--seccomp-bpf", "-qq", "-s", "4096", "-e", `trace=${calls}`, "-o", file];
}

/** Reads what strace wrote. */
export function readTrace(text: string): Trace {
  const started: string[] = [];
  const written: string[] = [];
  for (const line of joinInterrupted(text.split("\n"))) {
    const [, call = "", rest = ""] = /^(\w+)\((.*)$/s.exec(line) ?? [];
    if (/ = -1 [A-Z]+/.test(rest)) continue;
    const [path = "", target = path] = [...rest.matchAll(/"((?:[^"\\]|\\.)*)"/g)]
      .map((match) => match[1] ?? "");
    if (STARTING.includes(call)) started.push(path);
    else if (call.startsWith("open") && !/O_(WRONLY|RDWR|CREAT)/.test(rest)) continue;
    else if (call.startsWith("rename") || call.includes("link")) written.push(target);
    else if (MAKING.includes(call)) written.push(path);
  }
  return { started, written };
}

/** A call that another thread interrupts is written in two lines. */
function joinInterrupted(lines: readonly string[]): string[] {
  const begun = new Map<string, string>();
  return lines.flatMap((line) => {
    const [, process = "", text = ""] = /^(\d+) +(.*)$/s.exec(line) ?? [];
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/s.exec(text);
    if (resumed) return [(begun.get(process) ?? "") + resumed[1]];
    const [before, interrupted] = text.split(" <unfinished ...>");
    if (interrupted === undefined) return [text];
    begun.set(process, before ?? "");
    return [];
  });
}
