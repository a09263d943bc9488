/**
 * The one pool of PostgreSQL connections, transactions on it, and what its errors mean.
 *
 *     const sql = openPool({ url: config.databaseUrl }, { applicationName: "corestead" });
 *     await transaction(sql, async (tx) => {
 *       await tx`insert into notes (body) values (${body})`;
 *       afterCommit(tx, () => wake());
 *     });
 */
import postgres from "postgres";
import { parseExactly } from "../base/exact-number.ts";
import { codeOf } from "../base/values.ts";

/** int8 in JavaScript: a number if that is exact, otherwise a string. A bigint can be a parameter. */
type Int8 = bigint | number | string;
interface Types extends Record<string, unknown> {
  int8: Int8;
  json: unknown;
}
/** The pool. Column names are camelCase in JavaScript and snake_case in SQL; keys inside jsonb are left alone. */
export type Sql = postgres.Sql<Types>;
/** A transaction, as `transaction` passes it to its callback. */
export type Tx = postgres.TransactionSql<Types>;
/**
 * Reads that may run on a replica; `run` may be called twice. `now` is the primary's time, in SQL: a replica's clock may
 * be another.
 */
export type Read = <T>(run: (sql: Reader, now: Fragment) => Promise<T>) => Promise<T>;
/** A pool, or a transaction of which the reads are a part. */
export type Reader = Sql | Tx;
/** A part of a statement: the result of a template that is not awaited. */
export type Fragment = postgres.Fragment;
/** Anything that can run a statement: the pool or a transaction. */
export type Queryable = postgres.ISql<Types>;

/** All of them on `sql`. */
export function readOn(sql: Sql): Read {
  const now = sql`now()`;
  return (run) => run(sql, now);
}

/** The address of a server: a connection string, or the folder of a Unix socket. */
export type DatabaseTarget = { url: string } | SocketTarget;

export interface SocketTarget {
  socketDir: string;
  port: number;
  database: string;
  user: string;
}

export interface PoolOptions {
  /** The maximum number of connections. */
  max?: number;
  /** How many of them one lane (`sql.lane`) may use, however many of its statements hang on a lock. */
  laneMax?: number;
  /** `false` behind a pooler that shares connections between transactions and does not support prepared statements. */
  prepare?: boolean;
  applicationName?: string;
  /** Whether values may be arrays: the first connection then asks for their types, which takes 3 ms. Default: true. */
  arrays?: boolean;
  /** The address leads through a pooler: sessions are shared, and settings cannot be made for them. */
  pooled?: boolean;
  /** How long each host of the address may take to accept a connection. */
  connectTimeoutMs?: number;
  /** The server cancels a statement after this long; 0 means never. */
  statementTimeoutMs?: number;
  /** A connection without an answer for this long is abandoned; its statement fails as unavailable. */
  silenceTimeoutMs?: number;
  /** How long a statement may wait for a connection, and how many may wait; by default there is no limit. */
  waitTimeoutMs?: number;
  maxWaiting?: number;
  /** Called after a connection of the pool has closed. */
  onClose?: (connection: number) => void;
  /** Called before a connection is used, with what tells its server from every other. */
  onServer?: (connection: number, server: string) => void;
}

/** A server that was started again is another one: it may have less than it had before. */
export const serverName = "concat_ws(' ', pg_postmaster_start_time(), inet_server_addr(), inet_server_port())";

/** Opens a pool. Connections are made on first use. `await sql.end({ timeout: 5 })` closes it. */
export function openPool(target: DatabaseTarget, options: PoolOptions = {}): Sql {
  // Without the patch, a transaction can stay open on a connection that goes on to serve others, whose writes are lost.
  if (!("hasBinary" in postgres)) throw new Error("patches/postgres@3.4.9.patch is not applied: run bun install");
  const { max = 10, prepare = true, arrays = true, onClose, onServer } = options;
  const settings = {
    max,
    prepare,
    fetch_types: arrays,
    // One statement per connection at a time; the rest wait in the pool. So no connection ever reaches the
    // pipeline limit, where postgres.js loses track of who owns a connection (its #823, #1189, #1210). Measured against
    // pipelines of 100: as fast or faster with up to 16 callers, a tenth slower with 64.
    max_pipeline: 0,
    // The default grows to 20 s, far longer than a restart of the server takes.
    backoff: (attempt: number) => Math.min(0.05 * 2 ** attempt, 1) * (0.5 + Math.random() / 2),
    // Not `postgres.camel`: that one also rewrites keys inside jsonb.
    transform: { column: { from: postgres.toCamel, to: postgres.fromCamel } },
    types: {
      int8: { to: 20, from: [20], serialize: (value: Int8) => value.toString(), parse: parseInt8 },
      json: { to: 114, from: [114, 3802], serialize: (value: unknown) => JSON.stringify(value), parse: parseExactly },
    },
    onnotice: () => {},
    ...(onClose && { onclose: onClose }),
    ...(onServer && { whois: `select ${serverName}`, onwhois: onServer }),
    ...limitsOf(max, options),
    ...sessionOf(options),
  };
  if (!("url" in target)) {
    const { socketDir, port, database, user } = target;
    return postgres({ ...settings, path: `${socketDir}/.s.PGSQL.${port}`, host: "localhost", port, database, user });
  }
  return postgres(target.url, { ...settings, ...failover(target.url) });
}

function limitsOf(max: number, options: PoolOptions) {
  const { laneMax = max, connectTimeoutMs = 10_000, silenceTimeoutMs, waitTimeoutMs, maxWaiting } = options;
  return {
    connect_timeout: connectTimeoutMs / 1000,
    max_lane: laneMax,
    ...(silenceTimeoutMs !== undefined && { max_silence: silenceTimeoutMs }),
    ...(waitTimeoutMs !== undefined && { max_wait: waitTimeoutMs }),
    ...(maxWaiting !== undefined && { max_waiting: maxWaiting }),
  };
}

function sessionOf({ pooled = false, applicationName = "corestead", statementTimeoutMs = 30_000 }: PoolOptions) {
  const limits = { statement_timeout: statementTimeoutMs, idle_in_transaction_session_timeout: 60_000 };
  return {
    connection: {
      application_name: applicationName,
      TimeZone: "UTC",
      // Fixes how times are printed: a role or a database may have another default.
      DateStyle: "ISO",
      // A pooler refuses a session that starts with a setting it does not know.
      ...(!pooled && limits),
    },
    // A session setting would stay on a connection that another client gets next, so each transaction makes its own.
    ...(pooled && {
      opening: Object.entries(limits)
        .map(([name, ms]) => `; set local ${name} = ${ms}`)
        .join(""),
    }),
  };
}

/**
 * With several hosts, connects to the primary unless the address says otherwise. "read-write" is the primary as well:
 * postgres.js decides it by `default_transaction_read_only`, which a hot standby reports as off.
 */
function failover(url: string): { target_session_attrs?: "primary" } {
  const hosts = url.replace(/^[a-z]+:\/\/([^/?]*@)?/i, "").split(/[/?]/)[0] ?? "";
  const wanted = new URLSearchParams(url.split("?")[1]).get("target_session_attrs");
  const isPrimary = wanted === null ? hosts.includes(",") : wanted === "read-write";
  const isUsual = wanted === null && process.env["PGTARGETSESSIONATTRS"] === "read-write";
  return isPrimary || isUsual ? { target_session_attrs: "primary" } : {};
}

/** Beyond 2^53 a number would not be exact, so it stays text. */
function parseInt8(text: string): Int8 {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : text;
}

const waiting = new WeakMap<object, (() => void)[]>();

/**
 * Runs `run` in a transaction that commits when it resolves and rolls back when it rejects. `afterCommit` callbacks run
 * before this promise resolves.
 */
export async function transaction<T>(sql: Sql, run: (tx: Tx) => Promise<T>): Promise<T> {
  const callbacks: (() => void)[] = [];
  // Wrapped, because `begin` awaits the members of an array.
  const { result } = await sql.begin(async (tx) => {
    waiting.set(tx, callbacks);
    return { result: await run(tx) };
  });
  for (const callback of callbacks) runGuarded(callback);
  return result;
}

/** A part of a transaction that can fail alone: its writes and its `afterCommit` callbacks are undone with it. */
export async function savepoint<T>(tx: Tx, run: (tx: Tx) => Promise<T>): Promise<T> {
  const callbacks: (() => void)[] = [];
  const { result } = await tx.savepoint(async (inner) => {
    waiting.set(inner, callbacks);
    return { result: await run(inner) };
  });
  waiting.get(tx)?.push(...callbacks);
  return result;
}

/** Calls `run` once after the transaction has committed, synchronously and in order; never after a rollback. */
export function afterCommit(tx: Tx, run: () => void): void {
  const callbacks = waiting.get(tx);
  if (!callbacks) throw new Error("afterCommit needs a transaction from transaction() or savepoint()");
  callbacks.push(run);
}

/** The change is committed: a failing callback must not make it look like a failure. */
function runGuarded(callback: () => void): void {
  try {
    callback();
  } catch (error) {
    reportError("a callback after commit failed", error);
  }
}

let reportError = (message: string, error: unknown): void => {
  process.stderr.write(`${message}: ${String(error)}\n`);
};

/** Sets where errors of `afterCommit` callbacks go; by default to standard error. */
export function reportCallbackErrorsTo(report: (message: string, error: unknown) => void): void {
  reportError = report;
}

/** Lifts the limit for this transaction: a backup, or an index on a large table, takes longer than a request may. */
export async function withoutTimeouts(tx: Tx): Promise<void> {
  await tx`
    select set_config(name, '0', true)
    from unnest(array['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout']) as name`;
}

export type DatabaseFault =
  | "unavailable"
  | "unique"
  | "check"
  | "exclusion"
  | "missing"
  | "reference"
  | "too-long"
  | "out-of-range"
  | "bad-input";

const faults: Record<string, DatabaseFault> = {
  "57P01": "unavailable", // admin_shutdown: the server is being stopped
  "57P02": "unavailable", // crash_shutdown: another backend died, all are ended
  "57P03": "unavailable", // cannot_connect_now: it starts or recovers
  "57P05": "unavailable", // idle_session_timeout
  "57014": "unavailable", // query_canceled: the statement timeout
  "53300": "unavailable", // too_many_connections
  "53200": "unavailable", // out_of_memory, for this statement
  "53000": "unavailable", // insufficient_resources
  "53100": "unavailable", // disk_full
  "53400": "unavailable", // configuration_limit_exceeded: temp_file_limit
  "58030": "unavailable", // io_error
  "40001": "unavailable", // serialization_failure: a retry succeeds
  "40P01": "unavailable", // deadlock_detected: a retry succeeds
  "55P03": "unavailable", // lock_not_available: lock_timeout
  "25006": "unavailable", // read_only_sql_transaction: the server became a standby in a failover
  "25P03": "unavailable", // idle_in_transaction_session_timeout
  CONNECTION_CLOSED: "unavailable", // these codes come from postgres.js
  CONNECTION_ENDED: "unavailable",
  CONNECTION_DESTROYED: "unavailable",
  CONNECT_TIMEOUT: "unavailable",
  ANSWER_TIMEOUT: "unavailable", // these three come from our patch of it
  POOL_TIMEOUT: "unavailable",
  POOL_FULL: "unavailable",
  "23505": "unique", // unique_violation
  "23514": "check", // check_violation
  "23P01": "exclusion", // exclusion_violation: overlapping bookings, for example
  "23502": "missing", // not_null_violation
  "23503": "reference", // foreign_key_violation
  "22001": "too-long", // string_data_right_truncation: longer than varchar(n)
  "22P05": "bad-input", // untranslatable_character: \u0000 in jsonb
  "22021": "bad-input", // character_not_in_repertoire: a NUL byte or broken UTF-8 in text
  "22P02": "bad-input", // invalid_text_representation: "x" as an integer or a uuid
  "22003": "out-of-range", // numeric_value_out_of_range
  "22007": "bad-input", // invalid_datetime_format
  "22008": "bad-input", // datetime_field_overflow: February 30th
  "54000": "bad-input", // program_limit_exceeded: an index entry or a value too large
  "54001": "bad-input", // statement_too_complex: JSON nested past the stack
  "54023": "bad-input", // too_many_arguments
};
// Operating system codes concern the database only if postgres.js has attached the statement.
const socketFaults = new Set(
  "ECONNREFUSED ENOENT ECONNRESET EPIPE ENOTFOUND EAI_AGAIN ETIMEDOUT EHOSTUNREACH EACCES".split(" "),
);

// The functions in which PostgreSQL writes files. Only a full disk has its own code there: an exhausted quota, or a
// file that has reached its size limit, is reported as an internal error.
const fileSources = new Set(["md.c", "fd.c", "buffile.c", "copydir.c", "slru.c", "xlog.c"]);

/** What a database error means to the caller: try later, a duplicate, a value it cannot store, or a bug of ours. */
export function databaseFault(error: unknown): DatabaseFault | undefined {
  const code = codeOf(error);
  if (!(error instanceof Error)) return undefined;
  if (code.startsWith("08")) return "unavailable"; // connection_exception
  if (code === "XX000" && "file" in error && fileSources.has(String(error.file))) return "unavailable";
  if (socketFaults.has(code)) return "query" in error ? "unavailable" : undefined;
  return Object.hasOwn(faults, code) ? faults[code] : undefined;
}
