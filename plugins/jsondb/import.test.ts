import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestApp, type Answer, type TestApp } from "../../tests/harness.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const schema = {
  fields: {
    email: { type: "string", required: true },
    age: "integer",
    score: "number",
    active: "boolean",
    born: "date",
    seen: "datetime",
    at: "time",
    note: "text",
  },
  indexed_fields: ["email", "age", "seen"],
};
const tables = {
  tables: {
    orders: { fields: { number: { type: "integer", required: true } } },
    lines: { fields: { name: "string" } },
  },
};

let made = 0;
async function newDb(dbSchema: object | null = schema): Promise<string> {
  const answer = await app.post("/core/dbs.json", { db: { name: `Import ${++made}`, schema: dbSchema } });
  expect(answer.status).toBe(201);
  return answer.json.code;
}

const types = { csv: "text/csv", json: "application/json", ndjson: "application/x-ndjson" };

function send(db: string, type: keyof typeof types | (string & {}), body: BodyInit, query = ""): Promise<Answer> {
  const contentType = Object.hasOwn(types, type) ? types[type as keyof typeof types] : type;
  return app.post(`/core/dbs/${db}/import${query}`, undefined, { raw: body, headers: { "content-type": contentType } });
}

async function records(db: string): Promise<{ data: Record<string, unknown>; table_name: string | null }[]> {
  return (await app.get(`/core/dbs/${db}/records.json?limit=100&sort=id`)).json;
}
const data = async (db: string) => (await records(db)).map((record) => record.data);

test("a smoke", async () => {
  const db = await newDb();
  const answer = await send(
    db,
    "csv",
    "email,age,score,active,born,seen,at,note\na@x,34,1.5,true,2026-01-31,2026-01-31 10:00:00,10:00,\n",
  );
  expect(answer.json).toEqual({ imported: 1 });
  console.log(await records(db));
  const e = await app.get(`/core/dbs/${db}/export?format=csv`);
  console.log(e.text, e.headers);
  const bad = await send(db, "csv", "email,age\n,34\nb@x,x\nc@x,1\n");
  console.log(bad.status, bad.text);
  console.log((await send(db, "json", JSON.stringify([{ email: "j1" }, { data: { email: "j2" } }]))).text);
  console.log((await send(db, "ndjson", '{"email":"n1"}\n{"email":\n', "?partial=true")).text);
  console.log((await app.get(`/core/dbs/${db}/export?format=ndjson`)).text);
  console.log(
    (
      await app.post(`/core/dbs/${db}/batch.json`, {
        operations: [
          { op: "create", data: { email: "b1" } },
          { op: "create", data: { age: 1 } },
        ],
      })
    ).text,
  );
  console.log(
    (
      await app.post(`/core/dbs/${db}/batch.json`, {
        operations: [
          { op: "create", data: { email: "b1" } },
          { op: "delete", id: (await app.get(`/core/dbs/${db}/records.json`)).json[0].id },
        ],
      })
    ).text,
  );
});
