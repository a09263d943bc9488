/**
 * The ceilings: the five benchmarked endpoints, written by hand with Elysia and postgres.js for this one schema.
 * records.ts runs it with `CEILING_DATABASE` (a target as JSON, and which ceiling it is); it prints its port.
 *
 * It does only what the same request needs: checks the bearer token, validates, runs one prepared statement on typed
 * columns, and answers with the same fields. `wide` looks the token up at each request and has the indexes that
 * Corestead has; `narrow` keeps a token for ten seconds and has one index for its list and one for its search.
 */
import { Elysia, status, t } from "elysia";
import postgres from "postgres";

const { socketDir, port, database, user, ceiling } = JSON.parse(Bun.env["CEILING_DATABASE"] ?? "null");
const isNarrow = ceiling === "narrow";
const sql = postgres({ path: `${socketDir}/.s.PGSQL.${port}`, host: "localhost", port, database, user, max: 10 });

const Contact = t.Object({
  name: t.String(),
  email: t.String(),
  city: t.Optional(t.String()),
  age: t.Optional(t.Integer()),
  visits: t.Optional(t.Integer()),
  joined_at: t.Optional(t.String({ pattern: String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$` })),
  phone: t.Optional(t.String()),
  note: t.Optional(t.String()),
  active: t.Optional(t.Boolean()),
});
const Id = t.Object({ id: t.String({ pattern: "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$" }) });
const limit = t.Integer({ minimum: 1, maximum: 100, default: 20 });
const columns = sql`id, name, email, city, age::int, visits::int, joined_at, phone, note, active, created_at, updated_at`;

/** Unnamed, so that each fragment gets its own plan; materialized, so that `limit` does not lead to a scan. */
const searchStatement = `
  with matches as materialized (
    select id, name, email, city, age::int, visits::int, joined_at, phone, note, active, created_at, updated_at
    from contacts where lower(name) like $1${isNarrow ? "" : " or lower(email) like $1 or lower(city) like $1"})
  select * from matches order by id limit $2`;

/** Until when a token counts as looked up, in milliseconds since 1970. */
const known = new Map<string, number>();

async function authorized(request: Request): Promise<boolean> {
  const token = /^Bearer (\S+)$/.exec(request.headers.get("authorization") ?? "")?.[1];
  if (!token) return false;
  if (!isNarrow) return isActive(token);
  if ((known.get(token) ?? 0) > Date.now()) return true;
  if (!(await isActive(token))) return false;
  known.set(token, Date.now() + 10_000);
  return true;
}

async function isActive(token: string): Promise<boolean> {
  const hash = new Bun.CryptoHasher("sha256").update(token).digest("hex");
  const [row] = await sql`
    select user_id from tokens where token_hash = ${hash} and active and (expires_at is null or expires_at > now())`;
  return row !== undefined;
}

const app = new Elysia()
  .get("/ready", "ready")
  .onBeforeHandle(async ({ request }) => {
    return (await authorized(request)) ? undefined : status(401, { error: "sign in" });
  })
  .get(
    "/contacts/:id",
    async ({ params }) => {
      const [row] = await sql`select ${columns} from contacts where id = ${params.id}`;
      return row ?? status(404, { error: "not found" });
    },
    { params: Id },
  )
  .get(
    "/contacts",
    async ({ query }) =>
      sql`
        select ${columns} from contacts where city = ${query.city}
        order by ${isNarrow ? sql`visits desc` : sql`joined_at desc, id desc`} limit ${query.limit}`,
    { query: t.Object({ city: t.String(), limit }) },
  )
  .get("/search", async ({ query }) => search(query.q, query.limit), {
    query: t.Object({ q: t.String({ minLength: 1, maxLength: 255 }), limit }),
  })
  .patch(
    "/contacts/:id",
    async ({ params, body }) => {
      const [row] = await sql`
        update contacts set ${sql(body)}, updated_at = now() where id = ${params.id} returning ${columns}`;
      return row ?? status(404, { error: "not found" });
    },
    { params: Id, body: t.Partial(Contact) },
  )
  .post(
    "/contacts",
    async ({ body, set }) => {
      const { name, email, city = null, age = null, visits = null, joined_at = null } = body;
      const { phone = null, note = null, active = null } = body;
      const [row] = await sql`
        insert into contacts (id, name, email, city, age, visits, joined_at, phone, note, active)
        values (${Bun.randomUUIDv7()}, ${name}, ${email}, ${city}, ${age}, ${visits}, ${joined_at}, ${phone}, ${note},
          ${active})
        returning ${columns}`;
      set.status = 201;
      return row;
    },
    { body: Contact },
  );

function search(fragment: string, rows: number) {
  const pattern = `%${fragment.toLowerCase().replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
  return sql.unsafe(searchStatement, [pattern, rows]);
}

app.listen({ hostname: "127.0.0.1", port: 0 });
process.stdout.write(`ceiling serves on http://127.0.0.1:${app.server?.port}\n`);
