import { describe, expect, test } from "bun:test";
import { eventually, otherAccount, person } from "../../../tests/harness.ts";
import { csv, importServer, ndjson } from "../../../tests/fixtures/import.ts";
import { prune } from "./store.ts";

const server = importServer();
const { newDb, send } = server;

const tasksOf = async (db: string, query = "") => (await server.app.get(`/core/dbs/${db}/tasks.json${query}`)).json;
const taskOf = async (db: string, id: string | null) => (await server.app.get(`/core/dbs/${db}/tasks/${id}.json`)).json;
const idOf = async (db: string): Promise<string> => (await server.app.get(`/core/dbs/${db}.json`)).json.id;
const taskId = ({ headers }: { readonly headers: Headers }) => headers.get("x-task-id");
const rows = (count: number) => `email,age\n${"ann@example.com,34\n".repeat(count)}`;

describe("an import", () => {
  test("is a task that its answer names", async () => {
    const db = await newDb();
    const answer = await send(db, csv, rows(2));
    expect([answer.status, answer.json]).toEqual([201, { imported: 2 }]);
    const task = {
      id: taskId(answer),
      kind: "import",
      status: "finished",
      done: 2,
      total: 2,
      stored: 2,
      failed: 0,
      error: null,
      warnings: [],
      created_by_id: 1,
      started_at: expect.any(String),
      finished_at: expect.any(String),
      undo_id: null,
    };
    expect(await tasksOf(db)).toEqual([task]);
    expect(await taskOf(db, taskId(answer))).toEqual({ ...task, errors: [] });
  });

  test("that is refused has failed, with the faulty rows of the answer", async () => {
    const db = await newDb();
    const answer = await send(db, csv, "email,age\nann@example.com,34\n,x\n");
    expect(answer.status).toBe(422);
    expect(await taskOf(db, taskId(answer))).toMatchObject({
      status: "failed",
      error: "nothing was stored: some rows are wrong",
      done: 2,
      stored: 0,
      failed: 1,
      errors: answer.json.errors,
    });
    expect(answer.json.errors[0]).toMatchObject({ row: 2, line: 3 });
  });

  test("with partial=true is finished, and says what it left out", async () => {
    const db = await newDb();
    const answer = await send(db, ndjson, '{"email":"a"}\n{"age":1}\n', "?partial=true");
    expect(await taskOf(db, taskId(answer))).toMatchObject({
      status: "finished",
      done: 2,
      total: 2,
      stored: 1,
      failed: 1,
      errors: [{ row: 2, line: 2, field: "email", message: "is required" }],
    });
  });

  test("is found while its rows arrive, and has failed if the client goes away", async () => {
    const db = await newDb();
    const socket = server.begin(db, rows(3));
    const [running] = await eventually(async () => {
      const found = await tasksOf(db, "?kind=import&status=running");
      return found[0]?.done >= 2 && found;
    }, "a running import");
    expect(running).toMatchObject({ kind: "import", total: null, finished_at: null });
    socket.destroy();
    const [failed] = await eventually(async () => {
      const found = await tasksOf(db, "?status=failed");
      return found.length > 0 && found;
    }, "a failed import");
    expect([failed.id, failed.stored]).toEqual([running.id, 0]);
    expect(failed.error).toEqual(expect.any(String));
  });

  test("whose process died has failed", async () => {
    const db = await newDb();
    const answer = await send(db, csv, rows(1));
    await server.app.sql`
      update db_tasks set status = 'running', finished_at = null, updated_at = now() - interval '3 minutes'
      where id = ${taskId(answer)}`;
    expect(await taskOf(db, taskId(answer))).toMatchObject({
      status: "failed",
      error: "the server stopped before it was done",
      finished_at: expect.any(String),
    });
    expect(await tasksOf(db, "?status=running")).toEqual([]);
  });

  test("that is repeated with its Idempotency-Key names the same task", async () => {
    const db = await newDb();
    const ask = () =>
      server.app.post(`/core/dbs/${db}/import`, undefined, {
        raw: rows(1),
        headers: { "content-type": csv, "idempotency-key": `tasks-${db}` },
      });
    const [first, second] = [await ask(), await ask()];
    expect(second.json).toEqual(first.json);
    expect(taskId(second)).toBe(taskId(first));
    expect(await tasksOf(db)).toHaveLength(1);
  });

  test("keeps names and messages of bounded length", async () => {
    const db = await newDb();
    const answer = await send(db, csv, `email,age\n${`${"x".repeat(1000)},${"y".repeat(5000)}\n`.repeat(150)}`);
    const { errors, failed } = await taskOf(db, taskId(answer));
    expect([errors.length, failed]).toEqual([100, 150]);
    expect(Math.max(...errors.map(({ message }: { message: string }) => message.length))).toBeLessThanOrEqual(500);
  });
});

describe("the undoing of an import", () => {
  const undo = (db: string, id: string | null, body: object = {}, token?: string) =>
    server.app.post(`/core/dbs/${db}/tasks/${id}/undo.json`, body, token === undefined ? {} : { token });
  const ended = (db: string, id: string) =>
    eventually(async () => {
      const task = await taskOf(db, id);
      return task.status !== "running" && task;
    }, "the end of the task");
  const trash = async (db: string) =>
    (await server.app.get(`/core/dbs/${db}/trash.json?limit=1`)).headers.get("x-total-count");

  test("takes its records alone, and they come back from the trash", async () => {
    const db = await newDb();
    await send(db, csv, "email,age\nbefore@example.com,1\n");
    const id = taskId(await send(db, csv, rows(2500)));
    await send(db, csv, "email,age\nafter@example.com,1\n");
    // Two at once: one of them does it.
    const answers = await Promise.all([undo(db, id), undo(db, id)]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([202, 409]);
    const { json } = answers.find(({ status }) => status === 202) ?? {};
    expect(json).toMatchObject({ kind: "delete", status: "running" });
    expect(await ended(db, json.id)).toMatchObject({ status: "finished", total: 2500, stored: 2500, failed: 0 });
    expect((await taskOf(db, id)).undo_id).toBe(json.id);
    expect((await server.data(db)).map(({ email }) => email)).toEqual(["before@example.com", "after@example.com"]);
    expect(await trash(db)).toBe("2500");
    const again = await undo(db, id);
    expect([again.status, again.json]).toEqual([409, { error: "it was undone already" }]);
    const [deleted] = (await server.app.get(`/core/dbs/${db}/trash.json?limit=1`)).json;
    expect((await server.app.post(`/core/dbs/${db}/trash/${deleted.id}/restore.json`)).status).toBe(200);
  });

  test("is begun again after it was stopped, and asks where nothing is kept", async () => {
    const db = await newDb({ fields: { email: "string" }, trash_days: 0 });
    const id = taskId(await send(db, csv, "email\na\nb\n"));
    const refused = await undo(db, id);
    expect([refused.status, refused.json]).toEqual([
      422,
      { for_good: ["must be true: the table keeps no deleted records"] },
    ]);
    const first = await undo(db, id, { for_good: true });
    await ended(db, first.json.id);
    await server.app.sql`update db_tasks set status = 'failed' where id = ${first.json.id}`;
    const second = await undo(db, id, { for_good: true });
    expect(second.status).toBe(202);
    expect([await ended(db, second.json.id), await server.data(db), await trash(db)]).toMatchObject([{}, [], "0"]);
  });

  test("is for a finished import whose records are known, and for those who may delete them", async () => {
    const { app } = server;
    const reader = await person(app);
    const adder = await person(app);
    const db = await newDb();
    const imported = taskId(await send(db, csv, rows(1)));
    const refused = taskId(await send(db, csv, 'email\n""\n,\n1,x,y\n'));
    expect((await undo(db, refused)).json).toEqual({ error: "only a finished import can be undone" });
    const access = [
      { to: `user:${reader.id}`, may: "read" },
      { to: `user:${adder.id}`, may: "edit", where: { email: "other@example.com" } },
    ];
    expect((await app.patch(`/core/dbs/${db}.json`, { db: { access } })).status).toBe(200);
    expect((await undo(db, imported, {}, reader.token)).status).toBe(403);
    expect((await undo(db, imported, {}, adder.token)).status).toBe(404);
    await app.sql`delete from db_task_records where task_id = ${imported}`;
    expect((await undo(db, imported)).json).toEqual({ error: "it made no records that are still known" });
  });
});

describe("the faulty rows of a task", () => {
  test("are kept in their order, the first 10,000 mistakes, and shown by pages", async () => {
    const db = await newDb();
    const answer = await send(
      db,
      csv,
      `email,age\n${",x\n".repeat(5100)}ann@example.com,1\n${",1\n".repeat(10)}`,
      "?partial=true",
    );
    expect(answer.json).toMatchObject({ imported: 1, failed: 5110, total: 5111 });
    const page = async (query: string) => server.app.get(`/core/dbs/${db}/tasks/${taskId(answer)}/errors.json${query}`);
    const first = await page("?limit=3");
    expect(first.headers.get("x-total-count")).toBe("10000");
    expect(
      first.json.map(({ row, line, field }: { row: number; line: number; field: string }) => [row, line, field]),
    ).toEqual([
      [1, 2, "email"],
      [1, 2, "age"],
      [2, 3, "email"],
    ]);
    expect((await page("?limit=1000&offset=9999")).json).toEqual([
      { row: 5000, line: 5001, field: "age", message: expect.stringContaining("whole number") },
    ]);
    expect((await taskOf(db, taskId(answer))).errors).toEqual(answer.json.errors);
    for (const wrong of ["x", "01a20009-0e28-759a-b735-426f30f280ac"])
      expect((await server.app.get(`/core/dbs/${db}/tasks/${wrong}/errors.json`)).status).toBe(404);
    const stranger = await otherAccount(server.app);
    expect((await stranger.get(`/core/dbs/${db}/tasks/${taskId(answer)}/errors.json`)).status).toBe(404);
  });

  test("are there while an import runs", async () => {
    const db = await newDb();
    const socket = server.begin(db, "email,age\n,1\n,2\n");
    const found = await eventually(async () => {
      const [task] = await tasksOf(db, "?status=running");
      const errors = task && (await server.app.get(`/core/dbs/${db}/tasks/${task.id}/errors.json`)).json;
      return errors?.length > 0 && errors;
    }, "the faulty rows of a running import");
    expect(found[0]).toMatchObject({ row: 1, line: 2, field: "email", message: "is required" });
    socket.destroy();
  });

  test("belong to a task that cannot be stopped, unless it changes records", async () => {
    const db = await newDb();
    const id = taskId(await send(db, csv, rows(1)));
    const { status, json } = await server.app.post(`/core/dbs/${db}/tasks/${id}/stop.json`);
    expect([status, json]).toEqual([409, { error: "only changes of many records can be stopped" }]);
  });
});

describe("re-indexing", () => {
  const other = { fields: { email: "string", age: "integer" }, indexed_fields: ["age"] };

  test("after a new schema is a task that counts records", async () => {
    const db = await newDb();
    await send(db, csv, rows(1200));
    expect((await server.app.patch(`/core/dbs/${db}.json`, { db: { schema: other } })).status).toBe(200);
    const [task] = await eventually(async () => {
      const found = await tasksOf(db, "?kind=reindex&status=finished");
      return found.length > 0 && found;
    }, "the end of re-indexing");
    expect(task).toMatchObject({ kind: "reindex", done: 1200, total: 1200, error: null, created_by_id: 1 });
    expect(task.finished_at).toEqual(expect.any(String));
  });

  test("gives way to that of a later schema", async () => {
    const db = await newDb();
    const id = "01a20009-0e28-759a-b735-426f30f280ac";
    await server.app.sql`
      insert into db_tasks (id, account_id, db_id, kind, updated_at)
      values (${id}, 1, ${await idOf(db)}, 'reindex', now() - interval '1 hour')`;
    expect((await tasksOf(db))[0]).toMatchObject({ id, status: "running" });
    expect((await server.app.patch(`/core/dbs/${db}.json`, { db: { schema: other } })).status).toBe(200);
    expect(await taskOf(db, id)).toMatchObject({ status: "failed", error: "the schema was changed again" });
  });

  test("is not needed for a schema with the same index columns", async () => {
    const db = await newDb(other);
    const schema = { ...other, fields: { ...other.fields, note: "text" } };
    expect((await server.app.patch(`/core/dbs/${db}.json`, { db: { schema } })).status).toBe(200);
    expect(await tasksOf(db)).toEqual([]);
  });
});

describe("an export", () => {
  test.each(["csv", "ndjson", "json"])("of more than 1,000 records as %s is a task", async (format) => {
    const db = await newDb();
    await send(db, csv, rows(1500));
    expect((await server.app.get(`/core/dbs/${db}/export?format=${format}`)).status).toBe(200);
    const [task] = await tasksOf(db, "?kind=export");
    expect(task).toMatchObject({ status: "finished", done: 1500, total: 1500, created_by_id: 1 });
  });

  test("of fewer is over at once, and none", async () => {
    const db = await newDb();
    await send(db, csv, rows(3));
    expect((await server.app.get(`/core/dbs/${db}/export`)).status).toBe(200);
    expect(await tasksOf(db, "?kind=export")).toEqual([]);
  });
});

describe("tasks", () => {
  test.each(["/core/tasks", "/core/dbs/:db/tasks"])("at %s of an unknown kind or status are refused", async (path) => {
    const at = path.replace(":db", await newDb());
    const kinds = { kind: ["must be one of import, export, reindex, update, delete"] };
    const statuses = { status: ["must be one of running, finished, failed"] };
    for (const [query, mistake] of [["kind=imports", kinds] as const, ["kind=import&status=done", statuses] as const]) {
      const { status, json } = await server.app.get(`${at}?${query}`);
      expect([status, json]).toEqual([422, mistake]);
    }
  });

  test("are those of one database, for those who may see it", async () => {
    const [db, another] = [await newDb(), await newDb()];
    const id = taskId(await send(db, csv, rows(1)));
    const { app } = server;
    expect(await tasksOf(another)).toEqual([]);
    for (const wrong of [`${another}/tasks/${id}`, `${db}/tasks/x`, `${db}/tasks/01a20009-0e28-759a-b735-426f30f280ac`])
      expect((await app.get(`/core/dbs/${wrong}.json`)).status).toBe(404);
    const stranger = await otherAccount(app);
    expect((await stranger.get(`/core/dbs/${db}/tasks.json`)).status).toBe(404);
    expect((await stranger.get(`/core/dbs/${db}/tasks/${id}.json`)).status).toBe(404);
    const { token } = await person(app, { role: "guest" });
    expect((await app.get(`/core/dbs/${db}/tasks.json`, { token })).status).toBe(403);
  });

  test("are kept for 7 days, the newest 100 of a database, and listed newest first", async () => {
    const db = await newDb();
    const { app } = server;
    await app.sql`
      insert into db_tasks (id, account_id, db_id, kind, status, finished_at)
      select ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 1, ${await idOf(db)}, 'import', 'finished', now()
      from generate_series(1, 130) n`;
    const id = taskId(await send(db, csv, rows(1)));
    const kept = await app.get(`/core/dbs/${db}/tasks.json?limit=2`);
    expect([kept.headers.get("x-total-count"), kept.json[0].id]).toEqual(["100", id]);
    expect(kept.json[1].id).toBe("00000000-0000-7000-8000-000000000130");
    await app.sql`update db_tasks set updated_at = now() - interval '7 days 1 minute' where id <> ${id}`;
    await prune(app.sql, 7);
    expect((await tasksOf(db)).map((task: { id: string }) => task.id)).toEqual([id]);
  });
});
