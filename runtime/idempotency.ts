import type { Sql } from "./db.ts";
import { conflict } from "./errors.ts";
import type { Reply } from "./reply.ts";

/** CONTRACT 3: the same key and body within 24 h gives the first answer again; another body, or one that showed a secret: 409. */
export interface Idempotency {
  once(request: KeyedRequest, run: () => Promise<Reply>): Promise<Reply>;
  prune(): Promise<void>;
}

export interface KeyedRequest {
  readonly accountId: number;
  /** Whose key it is: a token or a visitor. */
  readonly principal: string;
  readonly key: string;
  /** Method, path and body; to be asked for after `run` where the body is a stream. */
  readonly content: string | (() => Promise<string>);
}

interface Row {
  fingerprint: string;
  status: number | null;
  headers: Record<string, string> | null;
  body: string | null;
  secret: boolean;
}

/** Stands for the fingerprint of a stream that is not read yet. */
const unread = "";

export function createIdempotency(sql: Sql): Idempotency {
  /**
   * True where this request is the first of its key. One that a crash cut off may be tried again after a minute, a
   * stream, which may run for an hour, after two of them.
   */
  const claim = async (at: KeyedRequest, fingerprint: string): Promise<boolean> => {
    const rows = await sql`
      insert into idempotency_keys as k (account_id, principal, key, fingerprint)
      values (${at.accountId}, ${at.principal}, ${at.key}, ${fingerprint})
      on conflict (account_id, principal, key) do update set fingerprint = excluded.fingerprint, created_at = now(), status = null
      where k.created_at < now() - interval '24 hours'
         or (k.status is null and k.created_at < now() - make_interval(mins => ${fingerprint === unread ? 120 : 1}) and k.fingerprint = excluded.fingerprint)
      returning 1`;
    return rows.length > 0;
  };

  const earlier = async (at: KeyedRequest, claimed: string, fingerprint: () => Promise<string>): Promise<Reply> => {
    const [row] = await sql<Row[]>`
      select fingerprint, status, headers, body, secret from idempotency_keys
      where account_id = ${at.accountId} and principal = ${at.principal} and key = ${at.key}`;
    if (!row || (row.fingerprint === claimed && row.status === null))
      throw conflict("a request with this Idempotency-Key is still running");
    if (row.status === null || row.fingerprint !== (await fingerprint()))
      throw conflict("this Idempotency-Key was used with another request");
    if (row.secret) throw conflict("the answer to this Idempotency-Key showed a secret and was not kept");
    return { status: row.status ?? 500, headers: { ...row.headers, "idempotency-replayed": "true" }, body: row.body };
  };

  const release = (at: KeyedRequest) =>
    sql`delete from idempotency_keys where account_id = ${at.accountId} and principal = ${at.principal} and key = ${at.key}`;

  const keep = (at: KeyedRequest, fingerprint: string, reply: Reply) => sql`
    update idempotency_keys set fingerprint = ${fingerprint}, status = ${reply.status}, secret = ${reply.secret === true},
      headers = ${reply.secret ? null : sql.json({ ...reply.headers })}, body = ${reply.secret ? null : reply.body}
    where account_id = ${at.accountId} and principal = ${at.principal} and key = ${at.key}`;

  const once = async (at: KeyedRequest, run: () => Promise<Reply>): Promise<Reply> => {
    const { content } = at;
    const fingerprint = async () => fingerprintOf(typeof content === "string" ? content : await content());
    const claimed = typeof content === "string" ? fingerprintOf(content) : unread;
    if (!(await claim(at, claimed))) return earlier(at, claimed, fingerprint);
    try {
      const reply = await run();
      await keep(at, await fingerprint(), reply);
      return reply;
    } catch (error) {
      await release(at); // a refused request changed nothing: it may be mended and sent again
      throw error;
    }
  };

  const prune = async () => {
    await sql`delete from idempotency_keys where created_at < now() - interval '24 hours'`;
  };
  return { once, prune };
}

function fingerprintOf(content: string): string {
  return new Bun.CryptoHasher("sha256").update(content).digest("base64url");
}
