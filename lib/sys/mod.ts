/**
 * Every ambient effect but system calls: time, files, processes, the log; and with them the
 * error base, secrets and the undo stack.
 *
 * Each file imports next to nothing and does nothing when it loads: the CNI plugin imports
 * the two or three it needs by name. Stand-ins for tests are in `testing.ts`. Programs that
 * run in the background are in `background_process.ts`, imported by name: it loads a module
 * of Node.
 *
 * @module
 */

export { writeFileAtomic, type WriteFileOptions } from "./atomic_write.ts";
export { backoffMs, type BackoffOptions } from "./backoff.ts";
export { type BootClock, kernelBootClock } from "./boot_clock.ts";
export {
  type Clock,
  DeadlineError,
  type DeadlineOptions,
  type SleepOptions,
  systemClock,
  withDeadline,
  withTimeLimit,
} from "./clock.ts";
export { ConfigError, type ConfigProblem } from "./config_error.ts";
export { causeChain, describeError, type ErrorParts, HeadcniError } from "./errors.ts";
export { failpoint, FAILPOINT_VARIABLE, FailpointError } from "./failpoint.ts";
export { FileError, type FileErrorCode, type FileErrorParts } from "./file_error.ts";
export { type HeldLock, lockFile, type LockFileOptions } from "./file_lock.ts";
export {
  denoFiles,
  type DirectoryEntry,
  type FileKind,
  type Files,
  type FileStat,
  readTextIfPresent,
} from "./files.ts";
export { FileFollower, type FollowOptions, type FollowUntil } from "./follow_file.ts";
export type { HttpHead, HttpRequest } from "./http_message.ts";
export {
  HttpError,
  type HttpErrorKind,
  type HttpPool,
  type HttpPoolOptions,
  openHttpPool,
  type PooledReply,
  type PooledRequest,
} from "./http_pool.ts";
export { type JsonPlace, JsonShapeError, JsonView, parseJsonView } from "./json_view.ts";
export {
  createLog,
  discardLog,
  type Log,
  type LogFormat,
  type LogMethod,
  LogOptionError,
  type LogOptions,
  logTo,
  type LogToOptions,
  parseLevel,
  parseLogFormat,
} from "./log.ts";
export { type Fields, type Level, LEVELS, type LogRecord } from "./log_record.ts";
export {
  type ByteWriter,
  type LogFile,
  type LogFileOptions,
  type LogSink,
  openLogFile,
  stderrSink,
} from "./log_sink.ts";
export { endOrphans } from "./orphans.ts";
export {
  checkPrivateFile,
  checkWritable,
  createPrivateFile,
  ensurePrivateDirectory,
  openToAppend,
  publishFile,
} from "./private_path.ts";
export { type Run, run, type RunOptions, type RunResult } from "./process.ts";
export { ProcessError, type ProcessErrorKind, type ProcessErrorParts } from "./process_error.ts";
export { type ProcessFacts, type ProcessTable, procTable } from "./process_table.ts";
export { cryptoRandomBelow, type RandomBelow } from "./random.ts";
export { isSameFile } from "./same_file.ts";
export { readSecretFile, redact, Secret, SecretFileError } from "./secret.ts";
export { untilSignalled } from "./signals.ts";
export { SocketError, type SocketErrorKind, type SocketErrorParts } from "./socket_error.ts";
export { type SystemName, systemName } from "./system_name.ts";
export { UndoError, type UndoFailure, UndoStack, type UndoStackOptions } from "./undo.ts";
export { isJsonObject, type JsonObject, JsonReader } from "./json_reader.ts";
export { findLockHolder, type LockHolder } from "./lock_holder.ts";
export {
  type RequestUnix,
  requestUnix,
  type UnixRequestOptions,
  type UnixResponse,
} from "./unix_http.ts";
