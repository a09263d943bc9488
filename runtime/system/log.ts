/**
 * The structured log: one JSON object a line on standard error, e.g.
 * `{"time":"2026-01-31T10:00:00.000Z","level":"error","message":"job failed","job":"jsondb.reindex"}`, or on a terminal
 * a line for people. Lines are written in batches; `flush` writes those that are waiting. Never log
 * headers, bodies or query strings.
 */
import { fstatSync } from "node:fs";
import { writeErrors } from "./output.ts";

export type Level = "debug" | "info" | "warn" | "error";
export type Fields = Record<string, unknown>;

export interface Log {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
  /** A log that adds these fields to every line. */
  with(fields: Fields): Log;
  flush(): void;
}

const order: Record<Level, number> = { debug: 0, info: 1, warn: 2, error: 3 };
const flushAfterMs = 50;
const flushAboveChars = 64_000;

export type Format = "json" | "text";

const processLogs = new Set<() => void>();

/** The log of this process on standard error; `auto` is text on a terminal, else JSON. */
export function processLog({ logLevel, logFormat }: { logLevel: Level; logFormat: Format | "auto" }): Log {
  const format = logFormat === "auto" ? (process.stderr.isTTY ? "text" : "json") : logFormat;
  const log = createLog(logLevel, writeErrors, format, isJournal());
  if (processLogs.size === 0) process.once("exit", flushLogs); // whatever ends the process
  processLogs.add(log.flush);
  return log;
}

/** Writes the lines that are waiting in any log of this process. */
export function flushLogs(): void {
  for (const flush of processLogs) flush();
}

/** As syslog(3) numbers them: the journal of systemd takes such a beginning of a line for its priority, and cuts it off. */
const priorities: Readonly<Record<Level, string>> = { debug: "<7>", info: "<6>", warn: "<4>", error: "<3>" };

/** Whether standard error leads to the journal itself: a service may have led it elsewhere. */
function isJournal(): boolean {
  const stream = process.env["JOURNAL_STREAM"];
  if (!stream) return false;
  const { dev, ino } = fstatSync(2);
  return stream === `${dev}:${ino}`;
}

/** Makes a log. `write` receives whole lines; the default is standard error. */
export function createLog(
  least: Level,
  write: (text: string) => void = writeErrors,
  format: Format = "json",
  hasPriorities = false,
): Log {
  const lineOf = format === "json" ? jsonLine : textLine;
  let waiting = "";
  let timer: ReturnType<typeof setTimeout> | undefined;

  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    const text = waiting;
    waiting = "";
    if (text !== "") write(text);
  };

  const line = (level: Level, message: string, bound: Fields, fields: Fields | undefined) => {
    if (order[level] < order[least]) return;
    const all = { ...bound, ...fields };
    waiting += `${hasPriorities ? priorities[level] : ""}${lineOf(new Date(), level, message, all)}\n`;
    if (level === "error" || waiting.length > flushAboveChars) return flush();
    timer ??= setTimeout(flush, flushAfterMs);
    timer.unref?.();
  };

  const bind = (bound: Fields): Log => ({
    debug: (message, fields) => line("debug", message, bound, fields),
    info: (message, fields) => line("info", message, bound, fields),
    warn: (message, fields) => line("warn", message, bound, fields),
    error: (message, fields) => line("error", message, bound, fields),
    with: (fields) => bind({ ...bound, ...fields }),
    flush,
  });
  return bind({});
}

function jsonLine(time: Date, level: Level, message: string, fields: Fields): string {
  return JSON.stringify({ time: time.toISOString(), level, message, ...fields }, plainErrors);
}

/** An Error has no enumerable keys of its own, so print its message, code, stack and causes. */
function plainErrors(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (!(value instanceof Error)) return value;
  const { message, stack, cause } = value;
  return { message, stack, ...("code" in value ? { code: value.code } : {}), ...(cause ? { cause } : {}) };
}

/** Formats a log entry for people: `10:00:00 WARN the database does not answer reason="connect ECONNREFUSED"`. */
export function textLine(
  time: Date,
  level: string,
  message: string,
  fields: Readonly<Record<string, unknown>>,
): string {
  const { error, ...others } = fields;
  const pairs = Object.entries(others).flatMap(([name, value]) =>
    value === undefined ? [] : `${name}=${shown(value)}`,
  );
  const importance = level === "info" ? [] : [level.toUpperCase()];
  const line = [clock(time), ...importance, message, ...pairs].join(" ");
  return error === undefined ? line : `${line}\n${told(error)}`;
}

/** In the reader's time zone. */
function clock(time: Date): string {
  return [time.getHours(), time.getMinutes(), time.getSeconds()].map((part) => `${part}`.padStart(2, "0")).join(":");
}

function shown(value: unknown): string {
  if (typeof value === "string") return /^[\w./:@+-]+$/.test(value) ? value : JSON.stringify(value);
  if (value instanceof Error) return JSON.stringify(value.message);
  if (typeof value === "bigint") return `${value}`;
  return JSON.stringify(value, (_key, inner: unknown) => (typeof inner === "bigint" ? `${inner}` : inner)) ?? "";
}

/** An error and its causes, each with its stack, indented under the line. */
function told(error: unknown): string {
  if (!(error instanceof Error)) return `  ${shown(error)}`;
  const own = (error.stack ?? error.message).replaceAll("\n", "\n  ");
  // Not every engine starts a stack with the message.
  const said = own.includes(error.message) ? own : `${error.message}\n  ${own}`;
  return error.cause === undefined ? `  ${said}` : `  ${said}\n  because\n${told(error.cause)}`;
}
