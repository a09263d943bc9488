/** The typed client: what it is made of, what does not compile with it, and what it does against a running server. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { adminToken, startTestApp, type TestApp } from "./harness.ts";

const root = resolve(import.meta.dir, "..");
let app: TestApp;
let folder: string;

beforeAll(async () => {
  app = await startTestApp();
  folder = mkdtempSync(join(tmpdir(), "corestead-client-"));
});
afterAll(async () => {
  await app.stop();
  rmSync(folder, { recursive: true });
});

async function run(...command: string[]): Promise<{ code: number; said: string }> {
  const env = { PATH: process.env["PATH"], HOME: folder, DATA_DIR: join(folder, "data") };
  const child = Bun.spawn(command, { cwd: root, env, stdout: "pipe", stderr: "pipe" });
  const [said, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, said: said + errors };
}

/** Compiled, and run against the server. */
const sample = `
import { ApiError, createClient, type ClientOptions, type RowOf, type Schemas } from "./client.ts";

export async function use(options: ClientOptions) {
  const client = createClient(options);
  const prompt = { name: "Entry", code: "entry", content: "Write: {{ what }}." };
  const made = await client.post("/core/prompts.json", { body: { prompt } });
  const id: string = made.data.id;
  const read = await client.get("/core/prompts/{id}.json", { path: { id } });
  const shown: Schemas["Prompt"] = read.data;
  const path = { id };
  const changed = await client.patch("/core/prompts/{id}.json", {
    path, body: { prompt: { name: "Other" } }, ...(read.etag && { ifMatch: read.etag }),
  });
  const late = await client.patch("/core/prompts/{id}.json", {
    path, body: { prompt: { name: "Late" } }, ...(read.etag && { ifMatch: read.etag }),
  }).catch(refused);
  const wrong = await client.post("/core/prompts.json", { body: { prompt: { ...prompt, name: "" } } }).catch(refused);
  const text: string = (await client.get("/core/prompts/{id}.md", { path })).data;
  const stranger = await createClient({ ...options, token: "core_none" }).get("/core/prompts.json").catch(refused);
  const gone = await client.delete("/core/prompts/{id}.json", { path });
  return { shown, etag: read.etag, changed: changed.data.name, late, wrong, text, stranger, gone: gone.status, request: made.status };
}

export async function readAll(options: ClientOptions) {
  const client = createClient(options);
  const db = await client.post("/core/dbs.json", { body: { db: { name: "Cities", code: "cities" } } });
  const path = { db_id: db.data.id };
  for (const n of [1, 2, 3, 4, 5])
    await client.post("/core/dbs/{db_id}/records.json", { path, body: { record: { data: { n } } } });
  const found: unknown[] = [];
  const query = { limit: 2, sort: "n", filter: { n: { gt: 1 } } };
  for await (const { data } of client.each("/core/dbs/{db_id}/records.json", { path, query })) found.push(data["n"]);
  const privileges: string[] = [];
  for (const name of ["a", "b", "c"])
    await client.post("/core/prompts.json", { body: { prompt: { name, code: name, content: "." } } });
  for await (const { code } of client.each("/core/prompts.json", { query: { limit: 2 } })) privileges.push(code);
  return { found, codes: privileges.sort() };
}

const schema = {
  fields: { name: { type: "string", required: true }, people: "integer", capital: { type: "boolean" } },
  indexed_fields: ["name"],
} as const;
type City = RowOf<typeof schema>;
const shop = { tables: { orders: { fields: { no: { type: "string", required: true }, total: "number" } } } } as const;

export async function rows(options: ClientOptions) {
  const client = createClient(options);
  await client.post("/core/dbs.json", { body: { db: { name: "Places", code: "places", schema } } });
  const cities = client.db<City>("places");
  const ending = new AbortController();
  const seen: unknown[] = [];
  const following = (async () => {
    for await (const { event, record } of cities.events({ signal: ending.signal })) {
      seen.push([event, record?.data.name]);
      if (seen.length === 2) ending.abort();
    }
  })();
  const made = await cities.create({ name: "Łódź", people: 650000 });
  const changed = await cities.update(made.data.id, { people: 655000 });
  const [found] = (await cities.search({ filter: { people: { gt: 1 } }, sort: "-people", fields: ["name"] })).data;
  const names: string[] = [];
  for await (const { data } of cities.each({ limit: 1 })) names.push(data.name);
  const loose = await client.get("/core/dbs/{db_id}/search.json", { path: { db_id: "places" }, query: { filter: { ünknown: "x" } } });
  // Which changes come first is not known before the stream stands.
  while (seen.length < 2) await cities.update(made.data.id, { people: seen.length }).catch(() => {});
  await following;
  const gone = await cities.delete(made.data.id);
  return { changed: changed.data.data, found: found?.name, names, clean: made.warnings, loose: loose.warnings, seen, gone: gone.status };
}

export async function post(options: ClientOptions, code: string, signal?: AbortSignal) {
  const body = { prompt: { name: "Kept", code, content: "." } };
  const { data } = await createClient(options).post("/core/prompts.json", { body, ...(signal && { signal }) });
  return data.id;
}

function refused(error: unknown) {
  if (!(error instanceof ApiError)) throw error;
  const { status, fields, message, requestId } = error;
  return { status, fields, message, known: requestId !== undefined };
}

export async function mistakes(options: ClientOptions) {
  const client = createClient(options);
  // @ts-expect-error there is no such path
  await client.get("/core/promts.json");
  // @ts-expect-error a list of prompts cannot be put
  await client.put("/core/prompts.json", { body: {} });
  // @ts-expect-error the id is missing
  await client.get("/core/prompts/{id}.json");
  // @ts-expect-error the parameter has another name
  await client.get("/core/prompts/{id}.json", { path: { code: "a" } });
  // @ts-expect-error a limit is a number
  await client.get("/core/prompts.json", { query: { limit: "2" } });
  // @ts-expect-error there is no such query parameter
  await client.get("/core/prompts.json", { query: { limits: 2 } });
  // @ts-expect-error the content is missing
  await client.post("/core/prompts.json", { body: { prompt: { name: "a", code: "a" } } });
  // @ts-expect-error the body is missing
  await client.post("/core/prompts.json");
  // @ts-expect-error a name is text
  await client.post("/core/prompts.json", { body: { prompt: { name: 1, code: "a", content: "b" } } });
  // @ts-expect-error there is no such kind
  await client.post("/core/prompts.json", { body: { prompt: { name: "a", code: "a", content: "b", kind: "robot" } } });
  // @ts-expect-error there is no such field
  (await client.get("/core/prompts/{id}.json", { path: { id: "a" } })).data.nme;
  const cities = client.db<City>("places");
  // @ts-expect-error the name is missing
  await cities.create({ people: 1 });
  // @ts-expect-error there is no such field
  await cities.create({ name: "a", poeple: 1 });
  // @ts-expect-error there is no such parameter
  await cities.search({ feilds: ["name"] });
  // @ts-expect-error there is no such field to sort by
  await cities.search({ sort: "-poeple" });
  // @ts-expect-error people are counted
  await cities.create({ name: "a", people: "1" });
  const orders = client.db<RowOf<typeof shop, "orders">>("shop", { table: "orders" });
  await orders.create({ no: "1", total: 1.5 });
  // @ts-expect-error there is no such field
  await orders.create({ no: "1", totl: 1.5 });
  // @ts-expect-error a schema has no such key
  await client.post("/core/dbs.json", { body: { db: { name: "a", schema: { feilds: { a: "string" } } } } });
  // @ts-expect-error visitors have no such operation
  await client.patch("/core/dbs/{id}.json", { path: { id: "a" }, body: { db: { public_methods: { lst: true } } } });
  // @ts-expect-error a record has no such field
  await client.post("/core/dbs/{db_id}/records.json", { path: { db_id: "a" }, body: { record: { tabel_name: "a", data: {} } } });
  // @ts-expect-error there is no such query parameter
  await client.get("/core/dbs/{db_id}/search.json", { path: { db_id: "a" }, query: { feilds: "a" } });
  // @ts-expect-error the database has another name in the path
  client.events("/core/dbs/{id}/events", { path: { id: "a" } });
  // @ts-expect-error it is no stream
  client.events("/account/me.json");
  // @ts-expect-error it is not a list
  client.each("/account/me.json");
}`;

const strict = {
  target: "esnext",
  module: "preserve",
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noPropertyAccessFromIndexSignature: true,
  erasableSyntaxOnly: true,
  verbatimModuleSyntax: true,
  allowImportingTsExtensions: true,
  noUnusedLocals: true,
  noEmit: true,
  lib: ["esnext", "dom"],
  types: [],
};

test("the command prints what a server gives, and makes no database", async () => {
  const { code, said } = await run("bun", "plugins/main.ts", "client");
  expect(code).toBe(0);
  expect(said).toBe((await app.get("/client.ts", { token: null })).text);
  expect(existsSync(join(folder, "data"))).toBe(false);
});

test("the package is made of the routes", async () => {
  const target = join(folder, "package");
  expect((await run("bun", "scripts/client.ts", target)).code).toBe(0);
  expect(await Bun.file(join(target, "index.ts")).text()).toBe((await app.get("/client.ts")).text);
  const { exports, name } = await Bun.file(join(target, "package.json")).json();
  expect(name).toBe("@corestead/client");
  for (const file of Object.values<string>(exports["."])) expect(existsSync(join(target, file))).toBe(true);
  const { createClient } = await import(join(target, "index.js"));
  const { data } = await createClient({ baseUrl: app.origin, token: adminToken }).get("/account/me.json");
  expect(data.login).toBe("admin");
});

describe("a program with the client", () => {
  let used: Used;
  const options = () => ({ baseUrl: app.origin, token: adminToken });
  beforeAll(async () => {
    await Bun.write(join(folder, "use/client.ts"), (await app.get("/client.ts", { token: null })).text);
    await Bun.write(join(folder, "use/use.ts"), sample);
    await Bun.write(join(folder, "use/tsconfig.json"), JSON.stringify({ compilerOptions: strict }));
    used = await import(join(folder, "use/use.ts"));
  });

  test("compiles in the strictest settings, and each mistake does not", async () => {
    expect(await run(join(root, "node_modules/.bin/tsc"), "-p", join(folder, "use"))).toEqual({ code: 0, said: "" });
  });

  test("reads, changes and deletes, and is told what is refused", async () => {
    const result = await used.use(options());
    expect(result).toMatchObject({
      request: 201,
      shown: { name: "Entry", kind: "chat" },
      changed: "Other",
      late: { status: 412, known: true },
      wrong: { status: 422, fields: { name: [expect.any(String)] }, message: expect.stringMatching(/^422: name /) },
      text: "Write: {{ what }}.",
      stranger: { status: 401, fields: {} },
      gone: 204,
    });
    expect(result.etag).toMatch(/^".+-1"$/);
  });

  test("reads lists to their end, by cursors and by offsets", async () => {
    expect(await used.readAll(options())).toEqual({ found: [2, 3, 4, 5], codes: ["a", "b", "c"] });
  });

  test("knows the rows of a database, follows their changes, and hears warnings", async () => {
    expect(await used.rows(options())).toEqual({
      changed: { name: "Łódź", people: 655000 },
      found: "Łódź",
      names: ["Łódź"],
      clean: [],
      loose: [expect.stringContaining("ünknown")],
      seen: [
        [expect.stringMatching(/^(create|update|reset)$/), expect.anything()],
        ["update", "Łódź"],
      ],
      gone: 204,
    });
  });

  test("sends a POST again when its answer is lost, and the work is done once", async () => {
    const keys: (string | null)[] = [];
    const losing = async (address: string, init: RequestInit) => {
      keys.push(new Headers(init.headers).get("idempotency-key"));
      const answer = await fetch(address, init);
      if (keys.length === 1) throw new TypeError("the connection is lost");
      return answer;
    };
    const id = await used.post({ ...options(), fetch: losing }, "kept");
    expect(keys).toEqual([expect.any(String), keys[0]]);
    const rows = await app.sql<{ id: string }[]>`select id from prompts where code = 'kept'`;
    expect(rows.map((row) => row.id)).toEqual([id]);
  });

  test("waits as long as it is told to, and gives up after its retries", async () => {
    let sent = 0;
    const busy = async () => {
      sent++;
      return Response.json({ error: "not now" }, { status: 503, headers: { "retry-after": "0" } });
    };
    const post = (retries?: number) =>
      used.post({ ...options(), fetch: busy, ...(retries !== undefined && { retries }) }, "busy").catch(String);
    expect([await post(), sent]).toEqual(["ApiError: 503: not now", 3]);
    expect([await post(0), sent]).toEqual(["ApiError: 503: not now", 4]);
  });

  test("ends when its signal does", async () => {
    const end = new AbortController();
    const hangs = (_: string, { signal }: RequestInit) =>
      new Promise<Response>((_resolve, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason));
        end.abort(new Error("enough"));
      });
    expect(used.post({ ...options(), fetch: hangs }, "never", end.signal)).rejects.toThrow("enough");
  });
});

interface Options {
  readonly baseUrl: string;
  readonly token: string;
  readonly retries?: number;
  readonly fetch?: (address: string, init: RequestInit) => Promise<Response>;
}

interface Used {
  use(options: Options): Promise<Readonly<Record<string, unknown>>>;
  readAll(options: Options): Promise<unknown>;
  rows(options: Options): Promise<unknown>;
  post(options: Options, code: string, signal?: AbortSignal): Promise<string>;
}
