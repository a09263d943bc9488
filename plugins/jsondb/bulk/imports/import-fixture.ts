/** The server, the databases and the requests that the tests of imports share. */
import { afterAll, beforeAll, expect } from "bun:test";
import { connect, type Socket } from "node:net";
import { adminToken, startTestApp, type Answer, type TestApp } from "../../../../tests/harness.ts";
import { plugins } from "../../../index.ts";
import { follower, traces } from "../../../../tests/traces.ts";

export const csv = "text/csv";
export const json = "application/json";
export const ndjson = "application/x-ndjson";

export const importSchema = {
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
export const tables = {
  tables: {
    orders: { fields: { number: { type: "integer", required: true } } },
    lines: { fields: { name: "string" } },
  },
};

/** Starts a server before the tests of a file, and stops it after them. `followed`: events of records are written. */
export function importServer({ followed = false } = {}) {
  let app: TestApp;
  let made = 0;
  beforeAll(async () => {
    app = await startTestApp({
      plugins: followed ? [...plugins, follower] : plugins,
      env: { MAX_IMPORT_BYTES: "50000000" },
    });
  });
  afterAll(() => app.stop());

  const records = async (db: string): Promise<{ data: Record<string, unknown>; table_name: string | null }[]> =>
    (await app.get(`/core/dbs/${db}/records.json?limit=100&sort=id`)).json;
  return {
    get app() {
      return app;
    },

    /** Its code. */
    async newDb(dbSchema: object | null = importSchema): Promise<string> {
      const answer = await app.post("/core/dbs.json", { db: { name: `Import ${++made}`, schema: dbSchema } });
      expect(answer.status).toBe(201);
      return answer.json.code;
    },

    /** A refused import leaves no record and no event. */
    async send(db: string, type: string, body: BodyInit, query = ""): Promise<Answer> {
      const before = await traces(app, "records");
      const headers = { "content-type": type };
      const answer = await app.post(`/core/dbs/${db}/import${query}`, undefined, { raw: body, headers });
      if (answer.status >= 400) expect(await traces(app, "records")).toEqual(before);
      return answer;
    },

    records,
    data: async (db: string) => (await records(db)).map((record) => record.data),
    /** How many parts of imports are kept. */
    imports: async () => (await app.sql`select from record_imports`).length,

    /** Sends the head and the beginning of the body of an import. */
    begin(db: string, body: string): Socket {
      const socket = connect(Number(new URL(app.origin).port), "127.0.0.1");
      socket.write(
        `POST /core/dbs/${db}/import HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${adminToken}\r\nContent-Type: text/csv\r\nContent-Length: 40000000\r\n\r\n${body}`,
      );
      return socket;
    },
  };
}
