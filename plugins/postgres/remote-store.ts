/**
 * One connection to an external database. It is made when it is first needed, closes itself when idle, and runs one
 * statement at a time, in a transaction of its own: read-only unless writes are allowed.
 */
import postgres from "postgres";
import { OutboundFault, type BaseContext, type OutboundSocket } from "platform";
import { limits, type DatabaseServer } from "./definition.ts";
import { types } from "./types.ts";

export interface Query {
  readonly text: string;
  readonly values: readonly unknown[];
  readonly mayWrite: boolean;
}

export interface Rows {
  readonly rows: Record<string, unknown>[];
  /** The number of rows that it returned or changed. */
  readonly count: number;
}

/** Why the statement failed, by the database or by this side. `code` is PostgreSQL's SQLSTATE. */
export class QueryFault extends Error {
  override readonly name = "QueryFault";
  readonly code: string | undefined;
  constructor(message: string, code?: string) {
    super(message);
    this.code = code;
  }
}

export interface RunOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

export interface Client {
  run(query: Query, options: RunOptions): Promise<Rows>;
  /** Whether it must not be used again. */
  isBroken(): boolean;
  close(): Promise<void>;
}

/** Ends a transaction and keeps nothing of it, not even session settings that a function changed. */
class Done extends Error {
  readonly result: Rows;
  constructor(result: Rows) {
    super("done");
    this.result = result;
  }
}

const idleSecondsAtMost = 30;
const sslRequest = new Uint8Array([0, 0, 0, 8, 4, 210, 22, 47]);

export function createClient(
  connect: BaseContext["connect"],
  server: DatabaseServer,
  idleSeconds = idleSecondsAtMost,
): Client {
  let socket: OutboundSocket | undefined;
  let received = 0;
  let broken = false;
  let fail: (fault: unknown) => void = () => {};
  const stop = (fault: unknown) => {
    broken = true;
    socket?.destroy();
    fail(fault);
  };
  const open = async (): Promise<OutboundSocket> => {
    try {
      socket = await connectTo(connect, server);
    } catch (error) {
      stop(error);
      throw error;
    }
    socket.on("data", ({ length }) => {
      received += length;
      if (received > limits.bytes) stop(new QueryFault(`the answer has more than ${limits.bytes} bytes`));
    });
    return socket;
  };
  const sql = openRemote(server, open, idleSeconds);

  return {
    isBroken: () => broken,
    async run(query, { timeoutMs, signal }) {
      received = 0;
      const failed = Promise.withResolvers<never>();
      fail = failed.reject;
      const late = () => stop(new QueryFault(`no complete answer within ${Math.round(timeoutMs)} ms`));
      const aborted = () => stop(signal?.reason);
      // The server's own time limit comes first.
      const timer = setTimeout(late, timeoutMs + 250);
      signal?.addEventListener("abort", aborted);
      const done = inTransaction(sql, query, timeoutMs);
      // If the call is given up, this fails later.
      done.catch(() => {});
      try {
        return await Promise.race([failed.promise, done]);
      } catch (error) {
        throw asFault(error, () => (broken = true));
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener("abort", aborted);
        fail = () => {};
      }
    },
    close: () => sql.end({ timeout: 1 }).catch(() => {}),
  };
}

type Remote = postgres.Sql;

function openRemote(
  { user, database, password }: DatabaseServer,
  open: () => Promise<OutboundSocket>,
  idleSeconds: number,
): Remote {
  const sockets = { socket: open }; // an option that the types of postgres.js lack
  return postgres({
    // The sockets are connected elsewhere; this is for its error messages.
    host: "remote",
    port: 5432,
    user,
    database,
    // postgres.js would replace an empty text with this process's PGPASSWORD.
    password: () => password ?? "",
    ssl: false,
    max: 1,
    idle_timeout: idleSeconds,
    connect_timeout: limits.seconds,
    prepare: false,
    onnotice: () => {},
    // statement.ts and types.ts rely on these, whatever the server's own settings are.
    connection: { application_name: "corestead", standard_conforming_strings: "on", DateStyle: "ISO" },
    types,
    ...sockets,
  });
}

/** Encrypted if the server or the address asks for it; the certificate is checked. */
async function connectTo(connect: BaseContext["connect"], server: DatabaseServer): Promise<OutboundSocket> {
  const { host, port, servername, ca } = server;
  const connection = await connect({ host, port });
  const mode = server.tls ?? (connection.isPublic ? "required" : "optional");
  if (mode === "none") return connection.socket;
  const answer = String.fromCharCode(await connection.ask(sslRequest));
  if (answer === "S") return (await connection.secure({ servername, ca })).socket;
  if (answer === "N" && mode === "optional") return connection.socket;
  connection.socket.destroy();
  throw new OutboundFault(
    "tls",
    answer === "N" ? `${host} does not offer TLS, but \`tls\` requires it` : `${host} is not a PostgreSQL server`,
  );
}

async function inTransaction(sql: Remote, { text, values, mayWrite }: Query, timeoutMs: number): Promise<Rows> {
  try {
    return await sql.begin(mayWrite ? "read write" : "read only", async (tx) => {
      // It also takes the transaction's snapshot, after which nothing can make the transaction writable.
      await tx.unsafe("select set_config('statement_timeout', $1, true)", [String(Math.max(1, Math.round(timeoutMs)))]);
      const result = await rowsOf(sql, tx, text, values);
      if (!mayWrite) throw new Done(result);
      return result;
    });
  } catch (error) {
    if (error instanceof Done) return error.result;
    throw error;
  }
}

async function rowsOf(
  sql: Remote,
  tx: postgres.TransactionSql,
  text: string,
  values: readonly unknown[],
): Promise<Rows> {
  // Type 0: the server decides the type of each parameter.
  const params = values.map((value) => (value === null || value === undefined ? null : sql.typed(value as string, 0)));
  // Not simple: the extended protocol takes only one statement, so that none can end the transaction for another.
  const extended = { prepare: false, simple: false };
  const query = tx.unsafe(text, params, extended).values();
  const parts: Part[] = [];
  const last = asPart(
    await query.cursor(limits.rows + 1, (rows) => {
      parts.push(asPart(rows));
      // No further rows are fetched.
      return rows.length > limits.rows ? sql.CLOSE : undefined;
    }),
  );
  // Statements without a count (show, explain) come only as the result.
  if (!parts.includes(last)) parts.push(last);
  const found = parts.flat();
  if (found.length > limits.rows) throw new QueryFault(`the answer has more than ${limits.rows} rows: add a limit`);
  const names = parts[0]?.columns?.map(({ name }) => name) ?? [];
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new QueryFault(`two columns are called "${twice}": rename one with \`as\``);
  const rows = found.map((row) => Object.fromEntries(names.map((name, at) => [name, row[at] ?? null])));
  return { rows, count: rows.length > 0 ? rows.length : (last.count ?? 0) };
}

/** Rows as arrays, with their columns and count, which the types of postgres.js lack for a cursor. */
type Part = unknown[][] & { readonly columns?: readonly { name: string }[] | null; readonly count?: number | null };

function asPart(rows: unknown): Part {
  return rows as Part;
}

/** PostgreSQL's own errors say what is wrong. After any other error the connection cannot be trusted. */
function asFault(error: unknown, breaks: () => void): unknown {
  if (error instanceof QueryFault || error instanceof OutboundFault || !(error instanceof Error)) return error;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (error instanceof postgres.PostgresError) {
    if (/^(?:08|57P|28|3D|53)/.test(code)) breaks();
    return new QueryFault(`the database refused: ${error.message} (${code})`, code);
  }
  breaks();
  return new QueryFault(`the connection broke before the whole answer (${code || error.message})`);
}
